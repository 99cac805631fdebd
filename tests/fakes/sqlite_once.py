"""Dagster's SQLite databases with less work for each statement, for faster tests.

Dagster's storage creates an engine for every connection, which compiles all SQL again, and a
connection for every statement, which reads the whole schema. Alembic reads ninety migrations
whenever a database is opened. Here, each process does this once. The events of steps and of planned
materializations, which only the UI shows, are not stored.
"""

import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any

import sqlalchemy
from alembic.config import Config
from alembic.script import ScriptDirectory

_create_engine = sqlalchemy.create_engine
_from_config = ScriptDirectory.from_config
_scripts: dict[str | None, ScriptDirectory] = {}  # by location


def make_databases_once() -> None:
    """Cache engines and migrations from now on; call it before Dagster is imported."""
    sqlalchemy.create_engine = _create_cached_engine
    ScriptDirectory.from_config = staticmethod(_read_scripts_once)
    if version("dagster").startswith("1.13."):  # which does not read the dropped events
        _drop_step_events()


def _read_scripts_once(config: Config) -> ScriptDirectory:
    location = config.get_main_option("script_location")
    if location not in _scripts:
        _scripts[location] = _from_config(config)
    return _scripts[location]


def _create_cached_engine(url: Any, **options: Any) -> sqlalchemy.Engine:
    """Return the same engine each time, with a pool, if an engine without a pool is requested."""
    if options.get("poolclass") is not sqlalchemy.NullPool:
        return _create_engine(url, **options)
    connect_args = options.pop("connect_args", {})
    return _pooled_engine(url, tuple(options.items()), tuple(connect_args.items()))


@lru_cache(maxsize=64)
def _pooled_engine(
    url: str, options: tuple[Any, ...], connect_args: tuple[Any, ...]
) -> sqlalchemy.Engine:
    if not url.startswith("sqlite:"):
        return _create_engine(url, connect_args=dict(connect_args), **dict(options))
    engine = _create_engine(
        url,
        connect_args=dict(connect_args) | {"check_same_thread": False},  # never at the same time
        **dict(options) | {"poolclass": sqlalchemy.QueuePool, "pool_size": 2, "max_overflow": -1},
        _initialize=False,  # the dialect is that of an initialized engine
    )
    initialized = _initialized_engine()
    engine.dialect = engine.pool._dialect = initialized.dialect
    engine._compiled_cache = initialized._compiled_cache  # which holds SQL of this dialect
    sqlalchemy.event.listen(engine, "connect", _switch_syncing_off)
    if url.startswith("sqlite:////"):
        _pool_while_file_is_unchanged(engine, engine.url.database or "")
    return engine


@cache
def _initialized_engine() -> sqlalchemy.Engine:
    engine = _create_engine("sqlite://")
    engine.connect().close()
    return engine


def _switch_syncing_off(connection: Any, _: Any) -> None:
    """Let SQLite not wait for the disk, as no test cuts the power."""
    if not isinstance(connection, sqlite3.Connection):
        return
    with suppress(sqlite3.DatabaseError):  # reading a damaged file will report it
        connection.execute("PRAGMA synchronous=OFF")


def _pool_while_file_is_unchanged(engine: sqlalchemy.Engine, file: str) -> None:
    """Open new connections after a test changes the file, and in a forked process."""

    def read_state() -> tuple[int, ...]:
        try:
            status = os.stat(file)  # noqa: PTH116 - twice as fast, and called for each statement
        except OSError:
            return ()
        return (os.getpid(), status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)

    def check_in(connection: Any, record: Any) -> None:
        """Move the log into the file, which tests may copy, as closing the database does."""
        with suppress(OSError, sqlite3.Error):
            if os.stat(f"{file}-wal").st_size:  # noqa: PTH116
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").close()
        record.info["state"] = read_state()

    def check_out(_: Any, record: Any, __: Any) -> None:
        if "state" in record.info and record.info["state"] != read_state():
            raise sqlalchemy.exc.DisconnectionError

    sqlalchemy.event.listen(engine, "checkin", check_in)
    sqlalchemy.event.listen(engine, "checkout", check_out)
    pooled: Any = engine
    pooled.dispose = lambda close=True: None  # Dagster disposes of the engine after each use


def _drop_step_events() -> None:
    from dagster._core.events import DagsterEventType
    from dagster._core.storage.event_log.in_memory import InMemoryEventLogStorage
    from dagster._core.storage.event_log.sqlite import SqliteEventLogStorage

    kind = DagsterEventType
    dropped = {
        *(kind.STEP_START, kind.STEP_INPUT, kind.LOADED_INPUT, kind.STEP_OUTPUT, kind.STEP_SUCCESS),
        *(kind.HANDLED_OUTPUT, kind.ENGINE_EVENT, kind.LOGS_CAPTURED),
        kind.ASSET_MATERIALIZATION_PLANNED,
        *(kind.RESOURCE_INIT_STARTED, kind.RESOURCE_INIT_SUCCESS, kind.STEP_WORKER_STARTING),
    }
    store_on_disk = SqliteEventLogStorage.store_event
    store_in_memory: Callable[[Any, Any], None] = InMemoryEventLogStorage.store_event

    def store_event(self: SqliteEventLogStorage, event: Any) -> None:
        if event.dagster_event_type not in dropped:
            store_on_disk(self, event)

    def store_or_announce(self: InMemoryEventLogStorage, event: Any) -> None:
        if event.dagster_event_type not in dropped:
            store_in_memory(self, event)
            return
        for handler in [*self._handlers[event.run_id]]:
            handler(event, "")

    on_disk: Any = SqliteEventLogStorage
    in_memory: Any = InMemoryEventLogStorage
    on_disk.store_event, in_memory.store_event = store_event, store_or_announce
