"""CogBench as Dagster assets."""
