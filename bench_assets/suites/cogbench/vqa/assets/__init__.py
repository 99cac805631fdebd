"""VQA as Dagster assets."""
