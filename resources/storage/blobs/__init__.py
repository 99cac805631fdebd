"""Blobs on disk or in an object store."""
