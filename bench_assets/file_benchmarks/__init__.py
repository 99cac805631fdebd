"""Benchmarks defined by a file of questions and a section of bench.toml."""
