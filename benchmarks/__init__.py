"""Speed and memory, compared with bounds: ``python -m benchmarks`` prints one table."""
