"""Task and Suite, the pipeline and its runner, blind baselines, extensions."""
