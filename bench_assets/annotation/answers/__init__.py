"""Annotation answers: validation, resolution by majority, quality and progress."""
