"""Dagster assets that all tasks of JourneyBench share."""
