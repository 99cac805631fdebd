"""Dagster's databases, with what it makes anew for each statement made once a process.

Its SQLite storage makes an engine for every connection, which forgets the SQL that the one before
compiled, and a connection for every statement, which reads the whole schema; and alembic reads
ninety migrations anew whenever a database is opened. A test opens several, and writes hundreds of
events. All keep the course of every step and what was planned, which is for people who look at the
UI: it is left out.
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
    """Keep engines and migrations from now on; call it before Dagster is imported."""
    sqlalchemy.create_engine = _kept
    ScriptDirectory.from_config = staticmethod(_read_once)
    if version("dagster").startswith("1.13."):  # what is left out is what this minor never reads
        _leave_steps_out()


def _read_once(config: Config) -> ScriptDirectory:
    place = config.get_main_option("script_location")
    if place not in _scripts:
        _scripts[place] = _from_config(config)
    return _scripts[place]


def _kept(url: Any, **options: Any) -> sqlalchemy.Engine:
    """The same engine each time, with kept connections, where one without a pool is wanted."""
    if options.get("poolclass") is not sqlalchemy.NullPool:
        return _create_engine(url, **options)
    connecting = options.pop("connect_args", {})
    return _engine(url, tuple(options.items()), tuple(connecting.items()))


@lru_cache(maxsize=64)
def _engine(url: str, options: tuple[Any, ...], connecting: tuple[Any, ...]) -> sqlalchemy.Engine:
    if not url.startswith("sqlite:"):
        return _create_engine(url, connect_args=dict(connecting), **dict(options))
    made = _create_engine(
        url,
        connect_args=dict(connecting) | {"check_same_thread": False},  # one after the other
        **dict(options) | {"poolclass": sqlalchemy.QueuePool, "pool_size": 2, "max_overflow": -1},
        _initialize=False,  # as another was
    )
    first = _initialized()
    made.dialect = made.pool._dialect = first.dialect
    made._compiled_cache = first._compiled_cache  # for this dialect
    sqlalchemy.event.listen(made, "connect", _without_waiting)
    if url.startswith("sqlite:////"):
        _keep_while_the_file_is_the_same(made, made.url.database or "")
    return made


@cache
def _initialized() -> sqlalchemy.Engine:
    made = _create_engine("sqlite://")
    made.connect().close()
    return made


def _without_waiting(connection: Any, _: Any) -> None:
    """No test cuts the power: what the system was given need not be on the disk yet."""
    if not isinstance(connection, sqlite3.Connection):
        return
    with suppress(sqlite3.DatabaseError):  # a damaged file is told of when it is read
        connection.execute("PRAGMA synchronous=OFF")


def _keep_while_the_file_is_the_same(engine: sqlalchemy.Engine, file: str) -> None:
    """Tests damage, replace and remove databases; and a process that is forked needs its own."""

    def state() -> tuple[int, ...]:
        try:
            found = os.stat(file)  # noqa: PTH116 - twice as fast, and asked for each statement
        except OSError:
            return ()
        return (os.getpid(), found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)

    def came_back(connection: Any, record: Any) -> None:
        """As after the last connection is closed: all is in the file, which may be copied."""
        with suppress(OSError, sqlite3.Error):
            if os.stat(f"{file}-wal").st_size:  # noqa: PTH116
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").close()
        record.info["state"] = state()

    def taken(_: Any, record: Any, __: Any) -> None:
        if record.info.get("state", found := state()) != found:
            raise sqlalchemy.exc.DisconnectionError

    sqlalchemy.event.listen(engine, "checkin", came_back)
    sqlalchemy.event.listen(engine, "checkout", taken)
    kept: Any = engine
    kept.dispose = lambda close=True: None  # as is done each time


def _leave_steps_out() -> None:
    from dagster._core.events import DagsterEventType
    from dagster._core.storage.event_log.in_memory import InMemoryEventLogStorage
    from dagster._core.storage.event_log.sqlite import SqliteEventLogStorage

    kind = DagsterEventType
    unread = {
        *(kind.STEP_START, kind.STEP_INPUT, kind.LOADED_INPUT, kind.STEP_OUTPUT, kind.STEP_SUCCESS),
        *(kind.HANDLED_OUTPUT, kind.ENGINE_EVENT, kind.LOGS_CAPTURED),
        kind.ASSET_MATERIALIZATION_PLANNED,
        *(kind.RESOURCE_INIT_STARTED, kind.RESOURCE_INIT_SUCCESS, kind.STEP_WORKER_STARTING),
    }
    store = SqliteEventLogStorage.store_event
    in_memory_store: Callable[[Any, Any], None] = InMemoryEventLogStorage.store_event

    def store_event(self: SqliteEventLogStorage, event: Any) -> None:
        if event.dagster_event_type not in unread:
            store(self, event)

    def keep_event(self: InMemoryEventLogStorage, event: Any) -> None:
        if event.dagster_event_type not in unread:
            in_memory_store(self, event)
            return
        for handler in [*self._handlers[event.run_id]]:
            handler(event, "")

    on_disk: Any = SqliteEventLogStorage
    in_memory: Any = InMemoryEventLogStorage
    on_disk.store_event, in_memory.store_event = store_event, keep_event
