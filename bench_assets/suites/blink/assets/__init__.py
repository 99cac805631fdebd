"""BLINK as Dagster assets."""
