"""Dagster assets of retrieval."""
