"""Annotation backends: files, our own pages, Label Studio."""
