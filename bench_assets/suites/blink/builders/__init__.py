"""Question builders, one per perception task (section 3.2)."""
