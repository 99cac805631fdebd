"""The benchmarks that ship with the project: a folder each, all with the same file names."""
