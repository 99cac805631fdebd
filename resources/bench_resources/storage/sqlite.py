"""SQLite files, read-only where needed, with clear errors."""

import shutil
import sqlite3
import tempfile
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from filelock import FileLock

from bench_assets.core.schema.errors import HomeError
from bench_resources.storage.atomic_write import describe_write_errors

if TYPE_CHECKING:
    from sqlalchemy import Dialect

PATIENCE = 60.0  # s to wait for a database that another process writes, or that is unreachable
SIDE_SUFFIXES = ("-wal", "-shm")  # of the files that SQLite keeps beside a database
_ERROR_MESSAGES = {  # by SQLite's primary error code
    sqlite3.SQLITE_BUSY: f"another process has written for {PATIENCE:.0f} s",
    sqlite3.SQLITE_LOCKED: f"another process has written for {PATIENCE:.0f} s",
    sqlite3.SQLITE_READONLY: "no permission to write it",
    sqlite3.SQLITE_PERM: "no permission to open it",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "input/output error: the disk may be full",
}
_READ_ONLY = "mode=ro"
_DECODE_DAMAGED = partial(str, encoding="utf-8", errors="surrogateescape")  # invalid UTF-8 is read
_NO_WAL_CODES = (  # errors of a file whose write-ahead log cannot be opened
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
)


def connect(file: Path, patience: float = PATIENCE) -> sqlite3.Connection:
    """Open an existing file to write; waits ``patience`` s while another process writes."""
    db = sqlite3.connect(_address(file, "mode=rw"), uri=True, timeout=patience)
    db.text_factory = _DECODE_DAMAGED
    db.execute("PRAGMA synchronous=NORMAL")  # survives kill -9; only a power cut may lose rows
    return db


@contextmanager
def hold_open(folder: Path) -> Generator[None]:
    """Hold open the databases that SQLAlchemy opens in a folder, until the block ends.

    Dagster opens a connection for each event of a run. Closing the only connection moves the
    write-ahead log into the file, which takes most of a short run. Commits do not wait for the disk
    either.
    """
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    connections: dict[str, sqlite3.Connection] = {}
    lock, resolved = Lock(), folder.resolve()

    def hold_connection(db: object, _: object) -> None:
        if not isinstance(db, sqlite3.Connection):
            return
        _, _, file = db.execute("PRAGMA database_list").fetchone()
        if not file or not Path(file).is_relative_to(resolved):
            return
        db.execute("PRAGMA synchronous=NORMAL")  # as for our own databases
        with lock:
            if file not in connections:
                connections[file] = sqlite3.connect(file, timeout=PATIENCE, check_same_thread=False)
            connections[file].execute("SELECT 1 FROM sqlite_schema").fetchone()  # opens the log

    event.listen(Engine, "connect", hold_connection)
    try:
        yield
    finally:
        event.remove(Engine, "connect", hold_connection)
        for connection in connections.values():
            connection.close()


def create_by_umask() -> None:
    """Let the SQLite files that SQLAlchemy creates take the umask; SQLite gives them 0644."""
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    if not event.contains(Engine, "do_connect", _create_empty):
        event.listen(Engine, "do_connect", _create_empty)


def _create_empty(dialect: "Dialect", _: object, arguments: Sequence[object], __: object) -> None:
    """Create the file that SQLAlchemy is about to open."""
    file = arguments[0] if dialect.name == "sqlite" and arguments else ""
    if isinstance(file, str) and file.startswith("/"):
        with suppress(OSError):  # it exists, or SQLite says why it cannot
            Path(file).touch(exist_ok=False)


def create(file: Path, schema: str) -> None:
    """Create a file with empty tables; of concurrent processes, the first one's stays.

    It is created under a temporary name, because WAL cannot be enabled while another process has
    the file open, and under a lock, because not every file system has hard links.
    """
    with describe_write_errors(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(file.with_name(f".{file.name}.lock")):
            if file.exists():
                return
            with tempfile.TemporaryDirectory(dir=file.parent) as temporary_folder:
                empty = Path(temporary_folder, file.name)
                empty.touch()  # by the umask; SQLite gives 0644
                with closing(sqlite3.connect(empty)) as db:
                    db.execute("PRAGMA journal_mode=WAL")
                    db.executescript(schema)
                for suffix in SIDE_SUFFIXES:  # left by a deleted file, with pages of that one
                    file.with_name(file.name + suffix).unlink(missing_ok=True)
                empty.replace(file)


@contextmanager
def open_read_only(file: Path) -> Generator[sqlite3.Connection]:
    """Open a file that may be read-only.

    SQLite needs write access beside a file with a write-ahead log. Without it, the file is opened
    as immutable, or as a copy if its log is not empty.
    """
    with suppress(_CannotOpenError), closing(_connect_read_only(file, _READ_ONLY)) as db:
        yield db
        return
    log = file.with_name(f"{file.name}-wal")
    if not (log.exists() and log.stat().st_size):
        with closing(_connect_read_only(file, "mode=ro&immutable=1")) as db:
            yield db
        return
    with tempfile.TemporaryDirectory() as temporary_folder:
        for database_file in (file, log):
            shutil.copyfile(database_file, Path(temporary_folder, database_file.name))
        with closing(_connect_read_only(Path(temporary_folder, file.name), "mode=rw")) as db:
            yield db


class _CannotOpenError(Exception):
    """A file cannot be opened in this way."""


def _address(file: Path, options: str) -> str:
    """URI of a file, with "?", "#" and "%" in its path escaped."""
    return f"{file.absolute().as_uri()}?{options}"


def _connect_read_only(file: Path, options: str) -> sqlite3.Connection:
    """Connect to a file with the options of its URI, and read from it."""
    db = sqlite3.connect(_address(file, options), uri=True, timeout=PATIENCE)
    db.text_factory = _DECODE_DAMAGED
    try:
        db.execute("SELECT 1 FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError as error:
        db.close()
        if options == _READ_ONLY and _primary_code(error) in _NO_WAL_CODES:
            raise _CannotOpenError from error
        raise
    return db


@contextmanager
def describe_sqlite_errors(file: Path, if_damaged: str) -> Generator[None]:
    """Describe a file's error, and what to do.

    Raises:
        HomeError: For any error of SQLite.
    """
    try:
        yield
    except sqlite3.Error as error:
        if message := _ERROR_MESSAGES.get(_primary_code(error)):
            raise HomeError(f"{file}: {message} ({error})") from error
        raise HomeError(f"{file}: damaged ({error}); {if_damaged}") from error


def integrity_errors(file: Path) -> list[str]:
    """The first three integrity errors of a file; none if it is intact."""
    try:
        with open_read_only(file) as db:
            errors = [str(text) for (text,) in db.execute("PRAGMA quick_check(3)")]
    except (sqlite3.Error, OSError) as error:
        return [str(error)]
    return [] if errors == ["ok"] else errors


def _primary_code(error: sqlite3.Error) -> int:
    """SQLite's primary error code, the lowest byte of the extended one."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
