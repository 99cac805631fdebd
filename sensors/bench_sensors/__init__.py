"""Dagster sensors: checkpoints, configuration, tables, annotation, runs, failures."""
