"""Dagster's instance of a home, and its runs: ledger, failures, orphaned runs, pools."""
