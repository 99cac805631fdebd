"""Dagster's databases, with what it makes anew for each statement made once a process.

Its SQLite storage makes an engine for every connection, which forgets the SQL that the one before
compiled; and alembic reads ninety migrations anew whenever a database is opened. A test opens
several, and writes hundreds of events. An instance that is only in memory connects anew for each of
them. All keep the course of every step, which is for people who look at the UI: it is left out.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any

import sqlalchemy
from alembic.config import Config
from alembic.script import ScriptDirectory

_create_engine = sqlalchemy.create_engine
_from_config = ScriptDirectory.from_config
_scripts: dict[str | None, ScriptDirectory] = {}  # of a place


def make_databases_once() -> None:
    """Keep engines and migrations from now on; call it before Dagster is imported."""
    sqlalchemy.create_engine = _kept
    ScriptDirectory.from_config = staticmethod(_read_once)
    _make_memory_light()
    _leave_steps_out()


def _read_once(config: Config) -> ScriptDirectory:
    place = config.get_main_option("script_location")
    if place not in _scripts:
        _scripts[place] = _from_config(config)
    return _scripts[place]


def _kept(url: Any, **options: Any) -> sqlalchemy.Engine:
    """An engine that keeps no connection is as good for the next one."""
    if options.get("poolclass") is not sqlalchemy.NullPool:
        return _create_engine(url, **options)
    connecting = options.pop("connect_args", {})
    return _engine(url, tuple(options.items()), tuple(connecting.items()))


@lru_cache(maxsize=64)
def _engine(url: str, options: tuple[Any, ...], connecting: tuple[Any, ...]) -> sqlalchemy.Engine:
    made = _create_engine(url, connect_args=dict(connecting), **dict(options))
    sqlalchemy.event.listen(made, "connect", _without_waiting)
    return made


def _without_waiting(connection: Any, _: Any) -> None:
    """No test cuts the power: what the system was given need not be on the disk yet."""
    if not isinstance(connection, sqlite3.Connection):
        return
    with suppress(sqlite3.DatabaseError):  # a damaged file is told of when it is read
        connection.execute("PRAGMA synchronous=OFF")


def _make_memory_light() -> None:
    from dagster._core.storage.event_log.in_memory import InMemoryEventLogStorage

    connect, make = InMemoryEventLogStorage._connect, InMemoryEventLogStorage.__init__

    def made(self: InMemoryEventLogStorage, *told: Any, **named: Any) -> None:
        self._owner = threading.get_ident()
        make(self, *told, **named)

    @contextmanager
    def connected(self: InMemoryEventLogStorage) -> Iterator[sqlalchemy.Connection]:
        """The connection that is held anyway, where SQLite lets this thread have it."""
        if self._owner != threading.get_ident():
            with connect(self) as other:
                yield other
            return
        with self._db_lock, self._held_conn.begin():
            yield self._held_conn

    InMemoryEventLogStorage.__init__ = made
    InMemoryEventLogStorage._connect = connected


def _leave_steps_out() -> None:
    from dagster._core.events import DagsterEventType
    from dagster._core.storage.event_log.in_memory import InMemoryEventLogStorage
    from dagster._core.storage.event_log.sqlite import SqliteEventLogStorage

    kind = DagsterEventType
    unread = {
        *(kind.STEP_START, kind.STEP_INPUT, kind.LOADED_INPUT, kind.STEP_OUTPUT, kind.STEP_SUCCESS),
        *(kind.HANDLED_OUTPUT, kind.ENGINE_EVENT, kind.LOGS_CAPTURED),
        *(kind.RESOURCE_INIT_STARTED, kind.RESOURCE_INIT_SUCCESS, kind.STEP_WORKER_STARTING),
    }
    store, store_in_memory = SqliteEventLogStorage.store_event, InMemoryEventLogStorage.store_event

    def store_event(self: SqliteEventLogStorage, event: Any) -> None:
        if event.dagster_event_type not in unread:
            store(self, event)

    def keep_event(self: InMemoryEventLogStorage, event: Any) -> None:
        if event.dagster_event_type not in unread:
            store_in_memory(self, event)
            return
        for told in [*self._handlers[event.run_id]]:
            told(event, "")

    SqliteEventLogStorage.store_event = store_event
    InMemoryEventLogStorage.store_event = keep_event
