"""Description as Dagster assets."""
