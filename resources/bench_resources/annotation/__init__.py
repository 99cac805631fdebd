"""Annotation backends: files and web pages; files of Label Studio."""
