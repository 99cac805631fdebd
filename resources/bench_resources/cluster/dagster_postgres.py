"""Dagster's PostgreSQL storage with retries over a restart of the database.

Its configuration names an environment variable instead of an address, because launchers pass it on
command lines. Imported only if ``dagster.yaml`` names it.
"""

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self, TypeVar
from urllib.parse import quote

import dagster as dg
from dagster_postgres.event_log import PostgresEventLogStorage
from dagster_postgres.run_storage import PostgresRunStorage
from dagster_postgres.schedule_storage import PostgresScheduleStorage
from dagster_postgres.storage import DagsterPostgresStorage
from sqlalchemy import Connection, Engine, inspect
from sqlalchemy.exc import OperationalError

from bench_resources.cluster.postgres import FIRST_PATIENCE, PostgresDatabase
from bench_resources.config.environment import read_secret
from bench_resources.storage.sqlite import PATIENCE

Result = TypeVar("Result")

_RETRY_SECONDS = 0.5  # s between two attempts
_TABLES = ("runs", "event_logs", "instigators")  # one table of each part
_CREATION_LOCK = 0x646167737465  # "dagste": the advisory lock for creating Dagster's tables


class SharedPostgresStorage(DagsterPostgresStorage):  # type: ignore[misc]
    """Dagster's storage for homes that share records, named in ``dagster.yaml``."""

    def __init__(self, variable: str, inst_data: Any = None) -> None:  # noqa: ANN401 - private type
        """Open the storage at the address in an environment variable; creates missing tables.

        Raises:
            SettingsError: If the variable does not hold the address of a PostgreSQL database.
            HomeError: If the database cannot be used.
        """
        address = read_secret(variable)
        # As a dsn, because SQLAlchemy does not parse all addresses that libpq does.
        url = f"postgresql+psycopg2://?dsn={quote(address, safe='')}"
        self.postgres_url, self.should_autocreate_tables = url, True
        self._inst_data = inst_data

        def open_parts() -> None:
            self._run_storage = _Runs(url)
            self._event_log_storage = _Events(url)
            self._schedule_storage = _Schedules(url)

        _open_in_turn(PostgresDatabase(address, variable), open_parts)
        super(DagsterPostgresStorage, self).__init__()  # its own would open the parts itself

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        """Types of the entries of ``config`` in ``dagster.yaml``."""
        return {"variable": str}

    @classmethod
    def from_config_value(cls, inst_data: Any, config_value: Mapping[str, Any]) -> Self:  # noqa: ANN401
        """Open the storage that ``dagster.yaml`` names."""
        return cls(config_value["variable"], inst_data)


class _Runs(PostgresRunStorage):  # type: ignore[misc]
    def connect(self) -> Any:  # noqa: ANN401 - a connection, as a context
        return _open_connection(self._engine)


class _Events(PostgresEventLogStorage):  # type: ignore[misc]
    def _connect(self) -> Any:  # noqa: ANN401 - a connection, as a context
        return _open_connection(self._engine)

    def store_event(self, event: dg.EventLogEntry) -> None:
        _retry_if_broken(lambda: super(_Events, self).store_event(event))

    def store_event_batch(self, events: Sequence[dg.EventLogEntry]) -> None:
        _retry_if_broken(lambda: super(_Events, self).store_event_batch(events))


class _Schedules(PostgresScheduleStorage):  # type: ignore[misc]
    def connect(self, run_id: str | None = None) -> Any:  # noqa: ANN401 - as Dagster has it
        return _open_connection(self._engine)


def _open_in_turn(database: PostgresDatabase, open_parts: Callable[[], None]) -> None:
    """Open storages one after the other until there are tables: concurrent creation fails."""

    def has_tables(connection: Connection) -> bool:
        return set(_TABLES) <= set(inspect(connection).get_table_names())

    def open_with_lock(connection: Connection) -> None:
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (_CREATION_LOCK,))
        open_parts()

    if database.write(has_tables, FIRST_PATIENCE):
        open_parts()
    else:
        database.write(open_with_lock, FIRST_PATIENCE)


@contextmanager
def _open_connection(engine: Engine) -> Generator[Connection]:
    """Open a connection; waits for a database that is restarting."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection = engine.connect()
            break
        except OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_SECONDS)
    try:
        yield connection
    finally:
        connection.close()


def _retry_if_broken(store: Callable[[], Result]) -> Result:
    """Retry a write after a broken connection.

    If the database stored the event but its response was lost, the event is logged twice.
    """
    try:
        return store()
    except OperationalError as error:
        if not error.connection_invalidated:
            raise
    return store()
