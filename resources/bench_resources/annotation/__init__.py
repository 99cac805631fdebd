"""Annotation backends: files, our own pages."""
