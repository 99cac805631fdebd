"""Export formats of other projects, one per file."""
