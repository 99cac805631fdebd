"""Image diversity study (section 4.4)."""
