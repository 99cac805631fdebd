"""Dagster assets of the built route."""
