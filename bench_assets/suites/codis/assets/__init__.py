"""Dagster assets of CODIS."""
