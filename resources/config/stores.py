"""Stores of a home: local, or shared as bench.toml names them."""

from pathlib import Path
from typing import TYPE_CHECKING

from resources.config.bench_toml import Settings
from resources.config.environment import read_secret
from resources.response_cache.port import ResponseStore
from resources.response_cache.sqlite_store import SqliteResponseStore
from resources.storage.blobs.opening import open_blobs
from resources.storage.blobs.port import Blobs
from resources.storage.leases import FileLeases, Leases, PostgresLeases
from resources.storage.locks import FileLocks, Locks
from resources.storage.vectors import SqliteVectorCache, VectorCache

if TYPE_CHECKING:
    from resources.storage.postgres import Database


def open_response_store(settings: Settings) -> ResponseStore:
    """What remembers responses; a file is made where there is none.

    Raises:
        SettingsError: If a database is named and its address cannot be used.
        HomeError: If the file or the database cannot be.
    """
    if not settings.storage.variable:
        return SqliteResponseStore(settings.responses_file)
    from resources.response_cache.postgres_store import PostgresResponseStore

    return PostgresResponseStore(open_database(settings))


def existing_response_store(settings: Settings) -> ResponseStore | None:
    """The same; None where no file was ever made, and none is made."""
    if settings.storage.variable or settings.responses_file.is_file():
        return open_response_store(settings)
    return None


def open_home_blobs(settings: Settings, below: str) -> Blobs:
    """One kind of what a home has: "tables", "images", "export".

    Raises:
        SettingsError: If obstore is not installed.
        HomeError: If the store that is named cannot be used.
    """
    storage = settings.storage
    return open_blobs(settings.home, below, storage.objects, storage.endpoint)


def open_vector_cache(settings: Settings) -> VectorCache:
    """What remembers vectors; a file is made with the first.

    Raises:
        SettingsError: If a database is named and its address cannot be used.
        HomeError: If the database cannot be.
    """
    if not settings.storage.variable:
        return SqliteVectorCache(vectors_file(settings))
    from resources.storage.vectors import PostgresVectorCache

    return PostgresVectorCache(open_database(settings))


def open_leases(settings: Settings, seconds: float) -> Leases:
    """What says who starts something; a claim holds for some seconds.

    Raises:
        SettingsError: If a database is named and its address cannot be used.
    """
    if not settings.storage.variable:
        return FileLeases(settings.home / "claims", seconds)
    return PostgresLeases(open_database(settings), seconds)


def open_table_locks(settings: Settings) -> Locks:
    """What says who makes a table now: all homes that share tables and a database have the same.

    Raises:
        SettingsError: If a database is named and its address cannot be used.
    """
    if not (settings.storage.variable and settings.storage.objects):
        return FileLocks(settings.home / "locks")
    from resources.storage.locks import PostgresLocks

    return PostgresLocks(open_database(settings))


def vectors_file(settings: Settings) -> Path:
    """What remembers vectors where no database is named."""
    return settings.home / "vectors.sqlite"


def open_database(settings: Settings) -> "Database":
    """The database that is named.

    Raises:
        SettingsError: If its address cannot be used.
    """
    from resources.storage.postgres import Database

    variable = settings.storage.variable
    return Database(read_secret(variable), variable)
