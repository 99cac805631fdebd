"""Dagster assets that both tasks of CogBench share."""
