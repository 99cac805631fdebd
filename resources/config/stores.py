"""Stores of a home: local, or shared as bench.toml names them."""

from pathlib import Path
from typing import TYPE_CHECKING

from resources.config.bench_toml import Settings
from resources.config.environment import secret
from resources.response_cache.port import ResponseStore
from resources.response_cache.sqlite_store import SqliteResponseStore
from resources.storage.blobs.opening import open_blobs
from resources.storage.blobs.port import Blobs
from resources.storage.locks.file_locks import Locks, LocksHere
from resources.storage.locks.leases import ClaimFiles, Claims, SharedClaims
from resources.storage.vectors.store import KnownVectors, VectorStore

if TYPE_CHECKING:
    from resources.storage.postgres import Database


def responses_of(settings: Settings) -> ResponseStore:
    """What remembers responses; a file is made where there is none.

    Raises:
        SettingsError: If a database is named and its address cannot be used.
        HomeError: If the file or the database cannot be.
    """
    if not settings.storage.variable:
        return SqliteResponseStore(settings.responses_file)
    from resources.response_cache.postgres_store import SharedResponses

    return SharedResponses(database_of(settings))


def remembered_responses(settings: Settings) -> ResponseStore | None:
    """The same; None where no file was ever made, and none is made."""
    if settings.storage.variable or settings.responses_file.is_file():
        return responses_of(settings)
    return None


def blobs_of(settings: Settings, below: str) -> Blobs:
    """One kind of what a home has: "tables", "images", "export".

    Raises:
        SettingsError: If obstore is not installed.
        HomeError: If the store that is named cannot be used.
    """
    storage = settings.storage
    return open_blobs(settings.home, below, storage.objects, storage.endpoint)


def vectors_of(settings: Settings) -> KnownVectors:
    """What remembers vectors; a file is made with the first.

    Raises:
        SettingsError: If a database is named and its address cannot be used.
        HomeError: If the database cannot be.
    """
    if not settings.storage.variable:
        return VectorStore(vectors_file(settings))
    from resources.storage.vectors.postgres_store import SharedVectors

    return SharedVectors(database_of(settings))


def claims_of(settings: Settings, seconds: float) -> Claims:
    """What says who starts something; a claim holds for some seconds.

    Raises:
        SettingsError: If a database is named and its address cannot be used.
    """
    if not settings.storage.variable:
        return ClaimFiles(settings.home / "claims", seconds)
    return SharedClaims(database_of(settings), seconds)


def table_locks_of(settings: Settings) -> Locks:
    """What says who makes a table now: all homes that share tables and a database have the same.

    Raises:
        SettingsError: If a database is named and its address cannot be used.
    """
    if not (settings.storage.variable and settings.storage.objects):
        return LocksHere(settings.home / "locks")
    from resources.storage.locks.postgres_locks import SharedLocks

    return SharedLocks(database_of(settings))


def vectors_file(settings: Settings) -> Path:
    """What remembers vectors where no database is named."""
    return settings.home / "vectors.sqlite"


def database_of(settings: Settings) -> "Database":
    """The database that is named.

    Raises:
        SettingsError: If its address cannot be used.
    """
    from resources.storage.postgres import Database

    variable = settings.storage.variable
    return Database(secret(variable), variable)
