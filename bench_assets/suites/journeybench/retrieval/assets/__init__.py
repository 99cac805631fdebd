"""Retrieval as Dagster assets."""
