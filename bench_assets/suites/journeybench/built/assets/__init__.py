"""The built route as Dagster assets."""
