"""The built route of MULTI: selection, annotation, transformation (section 3.2)."""
