"""Dagster's databases, with what it makes anew for each statement made once a process.

Its SQLite storage makes an engine for every connection, which forgets the SQL that the one before
compiled; and alembic reads ninety migrations anew whenever a database is opened. A test opens
several, and writes hundreds of events.
"""

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
    return _create_engine(url, connect_args=dict(connecting), **dict(options))
