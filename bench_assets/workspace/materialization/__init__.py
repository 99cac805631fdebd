"""Materialization: the workbench, Dagster instance and processes, backfills."""
