"""Stores of tests, as the product opens them."""

from pathlib import Path

from resources.response_cache import store
from resources.response_cache.store import ResponseStore
from resources.storage import vectors
from resources.storage.database import SqliteDatabase
from resources.storage.vectors import VectorCache


def response_file(file: Path) -> ResponseStore:
    """The response cache of a file."""
    return ResponseStore(SqliteDatabase(file, store.REPAIR_ADVICE))


def vector_file(file: Path) -> VectorCache:
    """The vector cache of a file."""
    return VectorCache(SqliteDatabase(file, vectors.REPAIR_ADVICE))
