"""Dagster asset factories that suites build their graphs with."""
