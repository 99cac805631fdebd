"""Measurements against stated bounds: ``python -m benchmarks`` prints them all as one table."""
