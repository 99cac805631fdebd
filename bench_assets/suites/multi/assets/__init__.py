"""MULTI as Dagster assets."""
