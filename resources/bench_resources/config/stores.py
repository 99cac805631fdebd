"""Stores of a home: local, or shared as configured in ``[storage]``."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bench_assets.features import hook_of
from bench_resources.config.addresses import fill_keys
from bench_resources.config.bench_toml import Settings
from bench_resources.config.environment import read_secret
from bench_resources.storage.blobs.files import open_blobs
from bench_resources.storage.blobs.port import Blobs

if TYPE_CHECKING:
    from bench_resources.cluster.postgres import PostgresDatabase
    from bench_resources.response_cache.store import ResponseStore
    from bench_resources.storage.locks import Locks


def open_response_store(settings: Settings) -> "ResponseStore":
    """Open the response cache; creates a missing file.

    Raises:
        SettingsError: As ``open_database``, if a database is configured.
        HomeError: If the file or the database cannot be used.
    """
    from bench_resources.response_cache.store import ResponseStore

    if settings.storage.variable:
        return ResponseStore(open_database(settings))
    return open_response_file(settings)


def open_response_file(settings: Settings) -> "ResponseStore":
    """Open the response cache in the file of this home, which is created if missing.

    Raises:
        HomeError: If the file cannot be used.
    """
    from bench_resources.response_cache.store import REPAIR_ADVICE, ResponseStore
    from bench_resources.storage.database import SqliteDatabase

    return ResponseStore(SqliteDatabase(settings.responses_file, REPAIR_ADVICE))


def existing_response_store(settings: Settings) -> "ResponseStore | None":
    """Open the response cache; None without a database and a file, which is not created."""
    if settings.storage.variable or settings.responses_file.is_file():
        return open_response_store(settings)
    return None


def open_shared_blobs(home: Path, kind: str, objects: str, endpoint: str) -> Blobs:
    """Open "tables", "images" or "export" of a home, by templates of addresses in ``[storage]``.

    Raises:
        SettingsError: If obstore is not installed, an address is invalid, or a variable is not set.
        HomeError: If the object store cannot be used.
    """
    return open_blobs(home, kind, fill_keys(objects), fill_keys(endpoint), place=objects)


def open_leases(settings: Settings, seconds: float) -> Callable[[str], bool]:
    """Return a function that takes a lease of some seconds by its name; False if it is taken."""
    from bench_resources.storage.database import SqliteDatabase
    from bench_resources.storage.leases import claim

    if settings.storage.variable:
        return partial(claim, open_database(settings), seconds)
    file = settings.home / "leases.sqlite"
    advice = "delete it: leases expire within minutes"
    return partial(claim, SqliteDatabase(file, advice), seconds)


def open_table_locks(settings: Settings) -> "Locks":
    """Open the locks of tables: shared if both tables and a database are shared, else local."""
    from bench_resources.storage.locks import FileLocks, LeaseLocks

    if settings.storage.variable and settings.storage.objects:
        return LeaseLocks(open_database(settings))
    return FileLocks(settings.home / "locks")


def open_database(settings: Settings) -> "PostgresDatabase":
    """Open the database of ``[storage]``.

    Raises:
        SettingsError: If its driver is missing, its variable is not set, or its address is invalid.
    """
    variable = settings.storage.variable
    database: PostgresDatabase = hook_of("database", f"{settings.file}, [storage] database")(
        read_secret(variable), variable
    )
    return database


def migrate_schema(settings: Settings) -> list[str]:
    """Migrate outdated stores to the current schema; returns "store: place" of each.

    Raises:
        SettingsError: As ``open_database``, if a database is configured.
        HomeError: If one cannot be used, or was written by a newer version.
    """
    from bench_resources.response_cache.store import REPAIR_ADVICE
    from bench_resources.storage.database import Database, SqliteDatabase
    from bench_resources.storage.schema import STORES

    databases: list[tuple[Database, tuple[str, ...]]] = []
    if settings.responses_file.exists():
        databases.append((SqliteDatabase(settings.responses_file, REPAIR_ADVICE), ("responses",)))
    if settings.storage.variable:
        databases.append((open_database(settings), tuple(STORES)))
    return [
        f"{name}: {database.place}"
        for database, stores in databases
        for name in database.migrate(stores)
    ]
