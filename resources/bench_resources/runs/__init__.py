"""Dagster runs: orphaned runs, pools."""
