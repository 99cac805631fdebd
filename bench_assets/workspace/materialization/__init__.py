"""Materialization: Dagster instance, runs, freshness, backfills, Dagster processes."""
