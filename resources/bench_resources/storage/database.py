"""Databases for stores: the port, and SQLite files."""

from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from functools import cache, partial
from pathlib import Path
from sqlite3 import Connection as SqliteConnection
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, TypeVar

import sqlalchemy as sa

from bench_assets.core.schema.errors import HomeError
from bench_resources.storage.schema import (
    STORES,
    create_statements,
    migrate,
    schema_state,
    version_error,
)
from bench_resources.storage.sqlite import (
    PATIENCE,
    connect,
    create,
    describe_sqlite_errors,
    open_read_only,
)

if TYPE_CHECKING:
    from bench_resources.cluster.postgres import PostgresDatabase

Database: TypeAlias = "SqliteDatabase | PostgresDatabase"
"""A database; every unit of work is one transaction, and errors are ``HomeError``."""

Result = TypeVar("Result")


class Write(Protocol):
    """Runs a unit of work in a transaction."""

    def __call__(self, work: Callable[[sa.Connection], Result]) -> Result:
        """Run it, and commit."""
        ...


class SqliteDatabase:
    """A SQLite file with a write-ahead log, shared by the processes of one machine."""

    def __init__(self, file: Path, if_damaged: str) -> None:
        """Store the path, and the advice if it is damaged; ``prepare`` creates the file."""
        self.file = file
        self._if_damaged = if_damaged

    @property
    def place(self) -> str:
        """The path of the file."""
        return str(self.file)

    def prepare(self, store: str) -> None:
        """Create the tables of a store, or check that they have the current schema.

        Raises:
            HomeError: If the database cannot be used, or was written by another version.
        """
        if self.file.exists():
            self._require_content()
            self.read(partial(self._require_schema, store))
            return
        with describe_sqlite_errors(self.file, self._if_damaged):
            create(self.file, ";\n".join(create_statements(store, _engine().dialect)))

    def migrate(self, stores: tuple[str, ...]) -> list[str]:
        """Migrate the tables of outdated stores, and return the names of these stores."""
        outdated = [
            store for store in stores if self.read(partial(schema_state, store=store)) == "older"
        ]
        for store in outdated:
            self.write(partial(migrate, store=store))
            self.prepare(store)
        return outdated

    def read(self, work: Callable[[sa.Connection], Result]) -> Result:
        """Run a unit of work that changes nothing; also works on a read-only file."""
        with (
            describe_sqlite_errors(self.file, self._if_damaged),
            open_read_only(self.file) as sqlite_connection,
            _connection(sqlite_connection, "BEGIN") as connection,
        ):
            return work(connection)

    def write(self, work: Callable[[sa.Connection], Result], patience: float = PATIENCE) -> Result:
        """Run a unit of work, and commit it; waits ``patience`` s while the file is locked."""
        with self.writer(patience) as write:
            return write(work)

    @contextmanager
    def writer(self, patience: float = PATIENCE) -> Generator[Write]:
        """Open a connection for several transactions."""
        inode_at_opening = _inode(self.file)
        with (
            describe_sqlite_errors(self.file, self._if_damaged),
            closing(connect(self.file, patience)) as sqlite_connection,
            _connection(sqlite_connection, "BEGIN IMMEDIATE") as connection,
        ):

            def write(work: Callable[[sa.Connection], Result]) -> Result:
                with connection.begin():
                    result = work(connection)
                # SQLite writes to a deleted file without an error.
                if _inode(self.file) != inode_at_opening:
                    raise HomeError(f"{self.file}: {_REPLACED}")
                return result

            yield write

    def compact(self) -> None:
        """Release the space of deleted rows."""
        with (
            describe_sqlite_errors(self.file, self._if_damaged),
            closing(connect(self.file)) as sqlite_connection,
        ):
            sqlite_connection.execute("VACUUM")
            sqlite_connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _require_content(self) -> None:
        if not self.file.is_file():
            raise HomeError(f"{self.file}: not a file. Move it away.")
        if not self.file.stat().st_size:
            raise HomeError(f"{self.file}: empty. Restore a backup, or delete it.")

    def _require_schema(self, store: str, connection: sa.Connection) -> None:
        """Check the version of a store, and that its tables and columns exist."""
        state, existing = schema_state(connection, store), sa.inspect(connection).get_table_names()
        if state in ("older", "newer"):
            raise version_error(self.file, store, state)
        for table in STORES[store]:
            if table.name not in existing:
                got = ", ".join(sorted(existing)) or "no tables"
                raise HomeError(
                    f"{self.file}: not a store of {store} (expected the table {table.name},"
                    f" got {got}). Move it away."
                )
            info = connection.exec_driver_sql(f"PRAGMA table_info({table.name})")
            if missing := set(table.columns.keys()) - {row.name for row in info}:
                raise HomeError(
                    f"{self.file}: damaged (no column {min(missing)}); {self._if_damaged}"
                )


_REPLACED = (
    "deleted or replaced while in use; writes since then are lost. Run the command"
    " again, and delete nothing meanwhile"
)


def _inode(file: Path) -> tuple[int, int] | None:
    """Device and inode of a file; None if it does not exist."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


class _Opened(NamedTuple):
    """A connection of sqlite3, and the statement that begins its transactions."""

    connection: SqliteConnection
    begin: str


_opened: ContextVar[_Opened] = ContextVar("_opened")


@cache
def _engine() -> sa.Engine:
    """One SQLAlchemy engine for all files, so that every statement is compiled once."""
    engine = sa.create_engine("sqlite://", pool=sa.NullPool(lambda: _opened.get().connection))

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql(_opened.get().begin)

    return engine


@contextmanager
def _connection(sqlite_connection: SqliteConnection, begin: str) -> Generator[sa.Connection]:
    """Wrap a connection of sqlite3 for SQLAlchemy; raises the errors of sqlite3."""
    sqlite_connection.isolation_level = None  # SQLAlchemy begins and ends transactions
    token = _opened.set(_Opened(sqlite_connection, begin))
    try:
        with _engine().connect() as connection:
            yield connection
    except sa.exc.DBAPIError as error:
        raise error.orig or error from error
    finally:
        _opened.reset(token)
