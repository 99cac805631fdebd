"""The built route of CogBench: annotation, merging, selection (section 2.2)."""
