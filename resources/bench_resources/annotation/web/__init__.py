"""Annotation pages served by this project."""
