"""Cached embedding vectors."""
