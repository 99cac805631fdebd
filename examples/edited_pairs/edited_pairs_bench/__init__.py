"""Edited pairs: the same question about a drawing and about the drawing edited."""

NAME = "edited_pairs"
"""Of the suite; the entry point in pyproject.toml has the same one."""
