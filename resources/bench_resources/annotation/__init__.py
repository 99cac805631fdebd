"""Annotation backends: files, our own pages; files of Label Studio."""
