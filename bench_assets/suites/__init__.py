"""The shipped benchmarks."""
