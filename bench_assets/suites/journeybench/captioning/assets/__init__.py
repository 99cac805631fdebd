"""Captioning as Dagster assets."""
