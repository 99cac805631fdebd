"""CODIS as Dagster assets."""
