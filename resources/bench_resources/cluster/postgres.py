"""PostgreSQL databases that homes share: connections with retries."""

import logging
import os
import time
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa

from bench_assets.core.extras import require_extra
from bench_assets.core.schema.errors import HomeError, SettingsError
from bench_resources.storage.database import Write
from bench_resources.storage.schema import (
    State,
    create_statements,
    migrate,
    schema_state,
    version_error,
)
from bench_resources.storage.sqlite import PATIENCE

if TYPE_CHECKING:
    import psycopg

_LOG = logging.getLogger("bench_assets.responses")

Result = TypeVar("Result")

FIRST_PATIENCE = 10.0  # s to retry at the beginning of a command: a wrong address fails soon
_RETRY_SECONDS = 0.5  # s between two attempts
_PERMANENT = (
    *("password authentication failed", "no password supplied", "no pg_hba.conf entry"),
    *("does not exist", "could not translate host name", "failed to resolve host"),
    *("is not permitted to log in", "permission denied", "invalid"),
)
_SCHEMA_LOCK = 0x62656E6368  # "bench": the advisory lock for creating and migrating tables


class PostgresDatabase:
    """A PostgreSQL database whose address is in an environment variable."""

    def __init__(self, address: str, variable: str) -> None:
        """Parse the address; the first unit of work connects.

        Args:
            address: Address for libpq: ``postgresql://user@host/database`` or ``host=... ...``.
            variable: Environment variable with the address, for messages.

        Raises:
            MissingExtraError: If psycopg is not installed.
            SettingsError: If the address is invalid.
        """
        require_extra("[storage] database", "psycopg")
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict

        try:
            parts = conninfo_to_dict(address)
        except ProgrammingError:
            raise SettingsError(
                f"{variable}: not the address of a PostgreSQL database (expected"
                " postgresql://user:password@host:5432/database). Correct the environment variable."
            ) from None
        host = ":".join(str(parts[name]) for name in ("host", "port") if parts.get(name)) or "here"
        self.place = f"PostgreSQL {host}/{parts.get('dbname', '')} ({variable})"
        self._address = address
        self._process = 0
        self._engine: sa.Engine | None = None

    def prepare(self, store: str) -> None:
        """Create the tables of a store, or require that they have the current schema."""
        state = self.write(partial(schema_state, store=store), FIRST_PATIENCE)
        if state == "missing":
            state = self.write(partial(_create_tables, store=store), FIRST_PATIENCE)
        if state != "current":
            raise version_error(self.place, store, state)

    def migrate(self, stores: tuple[str, ...]) -> list[str]:
        """Migrate outdated stores, create missing ones, and return the names of the outdated."""

        def migrate_older(connection: sa.Connection) -> list[str]:
            _lock_schema(connection)
            older = [store for store in stores if schema_state(connection, store) == "older"]
            for store in older:
                migrate(connection, store)
            return older

        older = self.write(migrate_older, FIRST_PATIENCE)
        for store in stores:
            self.prepare(store)
        return older

    def read(self, work: Callable[[sa.Connection], Result]) -> Result:
        """Run a unit of work that changes nothing."""
        return self.write(work)

    def write(self, work: Callable[[sa.Connection], Result], patience: float = PATIENCE) -> Result:
        """Run a unit of work in one transaction; retry it if the connection or server fails.

        Raises:
            HomeError: If it still fails after ``patience`` s, or for another error of the database.
        """
        deadline = time.monotonic() + patience
        has_reconnected = has_warned = False
        while True:
            try:
                with self._open_engine().begin() as connection:
                    return work(connection)
            except sa.exc.DBAPIError as error:
                message = " ".join(str(error.orig).split()) or type(error.orig).__name__
                if not _is_transient(error) or time.monotonic() > deadline:
                    raise HomeError(f"{self.place}: {message}") from None
                if error.connection_invalidated and not has_reconnected:
                    has_reconnected = True  # an idle connection broke; the next attempt opens one
                    continue
                if not has_warned:
                    _LOG.warning("%s: %s; retrying for %.0f s", self.place, message, patience)
                    has_warned = True
                time.sleep(_RETRY_SECONDS)

    def writer(self) -> AbstractContextManager[Write]:
        """Provide ``write`` for several units of work; each takes a connection of the pool."""
        return nullcontext(self.write)

    def _open_engine(self) -> sa.Engine:
        """The engine of this process, which is created by its first use."""
        if self._engine is None or self._process != os.getpid():  # connections survive no fork
            self._process = os.getpid()
            self._engine = sa.create_engine(
                "postgresql+psycopg://", creator=self._connect, max_overflow=-1
            )
            weakref.finalize(self, _dispose, self._engine, self._process)
        return self._engine

    def _connect(self) -> "psycopg.Connection[Any]":
        import psycopg

        return psycopg.connect(
            self._address,
            connect_timeout=10,
            application_name="bench",
            prepare_threshold=None,  # connection poolers may not support prepared statements
        )


def _create_tables(connection: sa.Connection, store: str) -> State:
    """Create the tables of a store if they are missing; returns the state of the schema."""
    _lock_schema(connection)
    if (state := schema_state(connection, store)) != "missing":
        return state
    for statement in create_statements(store, connection.dialect):
        connection.exec_driver_sql(statement)
    return "current"


def _lock_schema(connection: sa.Connection) -> None:
    connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (_SCHEMA_LOCK,))


def _dispose(engine: sa.Engine, process: int) -> None:
    """Close the connections of an engine, except in a fork of its process."""
    if process == os.getpid():
        engine.dispose()


def _is_transient(error: sa.exc.DBAPIError) -> bool:
    """Whether another attempt may succeed, such as after a restart or a deadlock."""
    from psycopg import errors

    if not isinstance(error.orig, errors.OperationalError):
        return False
    is_full = isinstance(error.orig, errors.DiskFull | errors.OutOfMemory)
    return not is_full and not any(text in str(error.orig) for text in _PERMANENT)
