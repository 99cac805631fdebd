"""PostgreSQL connections with retries."""

import logging
import os
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

from bench_assets.core.schema.errors import HomeError, SettingsError

if TYPE_CHECKING:
    import psycopg

_LOG = logging.getLogger("bench_assets.responses")

Connection: TypeAlias = "psycopg.Connection[dict[str, Any]]"
Result = TypeVar("Result")

PATIENCE = 60.0  # s that a database may be away that was there
_AT_FIRST = 10.0  # s that one may be away when a command begins: it may be starting
_BETWEEN = 0.5  # s between two attempts
_HOPELESS = (
    *("password authentication failed", "no password supplied", "no pg_hba.conf entry"),
    *("does not exist", "could not translate host name", "failed to resolve host"),
    *("is not permitted to log in", "permission denied", "invalid"),
)
_ONE_AT_A_TIME = 0x62656E6368  # "bench": who makes tables holds this lock


class Database:
    """A PostgreSQL that was named in the environment."""

    def __init__(self, address: str, variable: str) -> None:
        """Look at the address; nothing is opened yet.

        Args:
            address: As libpq takes it: ``postgresql://user@host/database`` or ``host=... ...``.
            variable: The environment variable it was read from, for complaints.

        Raises:
            SettingsError: If that is none, or psycopg is not installed.
        """
        try:
            from psycopg import ProgrammingError
            from psycopg.conninfo import conninfo_to_dict
        except ImportError as why:
            raise SettingsError(
                "[storage] database needs psycopg: pip install 'bench-assets[cluster]'"
            ) from why
        try:
            parts = conninfo_to_dict(address)
        except ProgrammingError:
            raise SettingsError(
                f"the environment variable {variable} holds no address of a PostgreSQL; one is"
                " postgresql://user:password@host:5432/database"
            ) from None
        at = ":".join(str(parts[name]) for name in ("host", "port") if parts.get(name))
        self.place = f"PostgreSQL {at or 'here'}/{parts.get('dbname', '')} ({variable})"
        self._address = address
        self._kept = self.line()
        self._is_free = threading.Lock()
        weakref.finalize(self, self._kept.__exit__)

    def make_ready(self, of: str, version: int, schema: str) -> None:
        """Make the tables of a store that are not there; many processes may do so at once.

        Raises:
            HomeError: If the database cannot be used, or its tables are of a newer version.
        """

        def make(db: Connection) -> int:
            db.execute("SELECT pg_advisory_xact_lock(%s)", (_ONE_AT_A_TIME,))
            db.execute(
                "CREATE TABLE IF NOT EXISTS bench_versions"
                " (store text PRIMARY KEY, version integer NOT NULL)"
            )
            found = db.execute("SELECT version FROM bench_versions WHERE store = %s", (of,))
            if row := found.fetchone():
                return int(row["version"])
            db.execute(schema)
            db.execute("INSERT INTO bench_versions VALUES (%s, %s)", (of, version))
            return version

        there = self.run(self._known_version(of), _AT_FIRST)
        if there is None:
            there = self.run(make, _AT_FIRST)
        if there != version:
            raise HomeError(
                f"{self.place}: written by a newer version of this program (its {of} are of version"
                f" {there}, known is {version}); update this one"
            )

    def run(self, work: Callable[[Connection], Result], patience: float = PATIENCE) -> Result:
        """Do one piece of work, as a line does; on one that is kept, unless a thread has it."""
        if self._is_free.acquire(blocking=False):
            try:
                return self._kept.run(work, patience)
            finally:
                self._is_free.release()
        with self.line() as line:
            return line.run(work, patience)

    def line(self) -> "ConnectionPool":
        """A connection to be kept for several pieces of work; opened with the first."""
        return ConnectionPool(self._address, self.place)

    def _known_version(self, of: str) -> Callable[[Connection], int | None]:
        def look(db: Connection) -> int | None:
            there = db.execute("SELECT to_regclass('bench_versions') AS there").fetchone()
            if not there or there["there"] is None:
                return None
            found = db.execute("SELECT version FROM bench_versions WHERE store = %s", (of,))
            return int(row["version"]) if (row := found.fetchone()) else None

        return look


class ConnectionPool:
    """A connection that is opened again when it breaks; one piece of work at a time."""

    def __init__(self, address: str, place: str) -> None:
        self._address, self._place = address, place
        self._db: Connection | None = None
        self._process = 0

    def __enter__(self) -> Self:
        """Use it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        if self._db and self._process == os.getpid():  # it belongs to the one that opened it
            self._db.close()
        self._db = None

    def run(self, work: Callable[[Connection], Result], patience: float = PATIENCE) -> Result:
        """Do a piece of work in one transaction, again where the database was away or in its way.

        Args:
            work: What to do; may be done several times, of which one counts.
            patience: s for which it is tried.

        Raises:
            HomeError: If the database cannot be reached, or refuses; tells no password.
        """
        from psycopg import Error

        until = time.monotonic() + patience
        told = False
        while True:
            was_idle = self._db is not None and not told
            try:
                return self._once(work)
            except Error as why:
                if not _is_transient(why) or time.monotonic() > until:
                    raise HomeError(f"{self._place}: {_error_text(why)}") from None
                if was_idle:  # what broke since it was last used is no news
                    continue
                if not told:
                    _LOG.warning(
                        "%s: %s; trying for %.0f s", self._place, _error_text(why), patience
                    )
                    told = True
                time.sleep(_BETWEEN)

    def _once(self, work: Callable[[Connection], Result]) -> Result:
        with ExitStack() as otherwise:
            otherwise.callback(self.__exit__)  # broken, or interrupted in the middle of an answer
            db = self._connected()
            with db.transaction():
                done = work(db)
            otherwise.pop_all()
        return done

    def _connected(self) -> Connection:
        import psycopg
        from psycopg.rows import dict_row

        if self._process != os.getpid():
            self._db, self._process = None, os.getpid()
        if self._db is None:
            self._db = psycopg.connect(
                self._address,
                row_factory=dict_row,
                connect_timeout=10,
                application_name="bench",
                autocommit=True,  # but for what ``transaction`` holds together
                prepare_threshold=None,  # what poolers between us and it may not know
            )
        return self._db


def _is_transient(why: Exception) -> bool:
    """Whether what went wrong may go right soon: a restart, two that waited for each other."""
    from psycopg import errors

    if not isinstance(why, errors.OperationalError):
        return False
    is_full = isinstance(why, errors.DiskFull | errors.OutOfMemory)
    return not is_full and not any(one in str(why) for one in _HOPELESS)


def _error_text(why: Exception) -> str:
    return " ".join(str(why).split()) or type(why).__name__
