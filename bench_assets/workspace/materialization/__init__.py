"""Materialization: the workbench, Dagster instance and processes, freshness, backfills."""
