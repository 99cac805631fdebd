"""Checkpoint folders: completeness, identity, training layouts."""
