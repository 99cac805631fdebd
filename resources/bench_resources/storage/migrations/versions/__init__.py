"""Revisions, one branch a store."""
