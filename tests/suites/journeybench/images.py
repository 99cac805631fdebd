"""Stored images for tests that never open them."""

from hashlib import sha256

from bench_assets.core.schema.rows import StoredImage


def stored(name: str) -> StoredImage:
    digest = sha256(name.encode()).hexdigest()
    return StoredImage(name=name, sha256=digest, format="PNG", width=8, height=8, n_bytes=99)
