"""Annotation forms, units, and the port to annotation backends."""
