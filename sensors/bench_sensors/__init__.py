"""Dagster sensors: checkpoints, configuration, tables, failed checks, orphaned runs, annotation."""
