"""Dagster's SQLite storage with one engine per database.

Dagster's own makes an engine for every connection, which compiles every statement anew and looks at
the database's version first: a tenth of a short run. Imported only if ``dagster.yaml`` names it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property, lru_cache
from typing import Any, Self

from dagster._core.storage.event_log.sqlite import SqliteEventLogStorage
from dagster._core.storage.runs.sqlite import SqliteRunStorage
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from sqlalchemy import Connection, Engine, NullPool, create_engine

from resources.storage.sqlite import PATIENCE

_ENGINES = 8  # each run has a database of its own


class HomeSqliteStorage(DagsterSqliteStorage):
    """Dagster's storage for the files of one home, named in ``dagster.yaml``."""

    def __init__(self, base_dir: str, inst_data: Any = None) -> None:  # noqa: ANN401 - private type
        """Open the storage; creates missing databases.

        Args:
            base_dir: Folder of the databases.
            inst_data: As Dagster rebuilds it elsewhere.
        """
        super().__init__(base_dir, inst_data)
        self._run_storage = _RunDatabase(self._run_storage._conn_string)
        self._event_log_storage = _EventDatabases(self._event_log_storage._base_dir)

    @classmethod
    def from_config_value(cls, inst_data: Any, config_value: Mapping[str, Any]) -> Self:  # noqa: ANN401
        """Open the storage that ``dagster.yaml`` names."""
        return cls(config_value["base_dir"], inst_data)


class _RunDatabase(SqliteRunStorage):
    @cached_property
    def _engine(self) -> Engine:
        return _made(self._conn_string)

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        with self._engine.begin() as connection:
            yield connection


class _EventDatabases(SqliteEventLogStorage):
    def __init__(self, base_dir: str) -> None:
        self._engine = lru_cache(_ENGINES)(lambda shard: _made(self.conn_string_for_shard(shard)))
        super().__init__(base_dir)

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        if shard not in self._initialized_dbs:  # Dagster's own creates it
            with super()._connect(shard) as connection:
                yield connection
            return
        with self._db_lock, self._engine(shard).begin() as connection:
            yield connection

    def has_table(self, table_name: str) -> bool:
        engine = self._engine("index")
        with engine.connect() as connection:
            return bool(engine.dialect.has_table(connection, table_name))


def _made(address: str) -> Engine:
    return create_engine(address, poolclass=NullPool, connect_args={"timeout": PATIENCE})
