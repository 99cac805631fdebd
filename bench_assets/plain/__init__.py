"""Benchmarks without Python: a file of questions and a section of bench.toml."""
