"""Dagster assets of the question task."""
