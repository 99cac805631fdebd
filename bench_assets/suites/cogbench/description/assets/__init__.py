"""Dagster assets of the description task."""
