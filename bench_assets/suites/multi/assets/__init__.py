"""Dagster assets of MULTI."""
