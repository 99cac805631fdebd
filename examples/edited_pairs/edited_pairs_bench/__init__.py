"""Edited pairs: the same question about an image before and after an edit."""

NAME = "edited_pairs"
"""Name of the suite, as in the entry point of pyproject.toml."""
