"""Machines of a Ray cluster: models on them, and runs."""
