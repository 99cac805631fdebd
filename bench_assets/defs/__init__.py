"""The Dagster definitions of the whole graph."""
