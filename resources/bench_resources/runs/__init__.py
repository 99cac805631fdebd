"""Dagster's instance of a home, and its runs: orphaned runs, pools."""
