"""Typed sections of bench.toml."""
