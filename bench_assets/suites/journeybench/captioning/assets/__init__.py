"""Dagster assets of captioning."""
