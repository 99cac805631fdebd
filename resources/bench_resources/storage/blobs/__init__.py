"""Blobs (bytes under names) in a folder or in an object store, and transfers between them."""
