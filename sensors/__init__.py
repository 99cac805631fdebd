"""Dagster sensors: checkpoints, configuration, changed tables, failed checks, annotation."""
