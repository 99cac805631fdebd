"""Batching of requests, and worker pools on one or many devices."""
