"""Known benchmarks: synthetic files of their columns, and their authors' rules in other words."""
