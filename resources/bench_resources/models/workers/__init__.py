"""Batching of requests to a local model."""
