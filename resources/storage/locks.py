"""File locks on tables in a home folder.

The kernel holds them, by byte ranges of files (``fcntl``), and lets go when a process ends, however
that was: no file that somebody left behind ever keeps anybody waiting. Over NFS the server does,
where the mount is one with locks, as it is unless it says ``nolock``. A lock is a process's: its
threads do not exclude each other, and its children have none.

PostgreSQL locks on tables, across machines.

A lock is a lease by the database's clock. Its holder says from time to time that it lives, and a
lock that nobody holds any more is free when the lease ends: at once, where whoever waits is on the
machine of a holder whose process is gone. A database that was away for longer than a lease may have
let another in: then both make the same table, and ask nothing twice.
"""

import errno
import fcntl
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple, Protocol
from uuid import uuid4

from bench_assets.core.schema.errors import HomeError, SettingsError
from resources.storage.postgres import Connection, ConnectionPool, Database
from resources.storage.process_identity import ProcessIdentity, is_gone, this_process

_UNSUPPORTED = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL)
_LONGEST_NOTE = 1000  # bytes

_log = logging.getLogger(__name__)


class Locks(Protocol):
    """The port to the locks of tables: those of a home, or of a database that homes share."""

    def held(
        self, names: Iterable[str], waits: Callable[[str], object]
    ) -> AbstractContextManager[None]:
        """Hold locks until the block ends; ``waits`` is told whom one is waited for."""
        ...


class FileLocks:
    """The locks of one home."""

    def __init__(self, folder: Path) -> None:
        """Say in which folder they are."""
        self._folder = folder

    def held(
        self, names: Iterable[str], waits: Callable[[str], object]
    ) -> AbstractContextManager[None]:
        """Hold locks until the block ends, as ``hold_locks`` does."""
        return hold_locks(self._folder, names, waits)


@contextmanager
def hold_locks(
    folder: Path, names: Iterable[str], waits: Callable[[str], object], kept: str = ""
) -> Generator[None]:
    """Hold locks until the block ends; waits, asleep, for those that others hold.

    On a file system that knows no locks, all is done without.

    Args:
        folder: Of all locks.
        names: What is locked. All who lock several lock them in one order, and so none waits for
            one that waits for it.
        waits: Is told whom a lock is waited for.
        kept: Shown to those who wait, behind the process.

    Raises:
        SettingsError: If there can be no file of that name.
    """
    with ExitStack() as held:
        for name in sorted(set(names)):
            held.enter_context(_hold_lock(_file(folder, name), name, waits, kept))
        yield


def is_lock_free(folder: Path, name: str) -> bool:
    """Whether a lock was taken once and nobody holds it now; its holder must not ask."""
    try:
        with _file(folder, name).open("r+b") as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # held, never taken, or not to be known
        return False
    return True


def lock_holders(folder: Path) -> list[str]:
    """Who holds locks now, as far as that can be told; who asks must hold none."""
    found = []
    for file in sorted(folder.glob("*")):
        try:
            with file.open("r+b") as opened:
                try:
                    fcntl.lockf(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except (BlockingIOError, PermissionError):
                    note = opened.read(_LONGEST_NOTE).decode(errors="replace")
                    found.append(note or "another process")
        except OSError:  # gone meanwhile, or a file system without locks
            continue
    return found


def delete_lock_file(folder: Path, name: str) -> None:
    """Delete the file of a lock that nobody will take again."""
    with suppress(OSError):
        _file(folder, name).unlink()


@contextmanager
def _hold_lock(file: Path, name: str, waits: Callable[[str], object], kept: str) -> Generator[None]:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        opened = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as why:
        raise SettingsError(f"{file}: {name} cannot be locked: {why.strerror}") from why
    try:
        _take(opened, file, name, waits)
        with suppress(OSError):  # a full disk: nobody will know who has the lock
            os.truncate(opened, 0)
            os.pwrite(opened, f"process {os.getpid()} on {socket.gethostname()}{kept}".encode(), 0)
        yield
    finally:
        os.close(opened)


def _take(opened: int, file: Path, name: str, waits: Callable[[str], object]) -> None:
    try:
        try:
            fcntl.lockf(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):  # POSIX allows either
            holder = os.pread(opened, _LONGEST_NOTE, 0).decode(errors="replace")
            waits(f"{name}: waiting for {holder or 'another process'}")
            fcntl.lockf(opened, fcntl.LOCK_EX)
    except OSError as why:
        if why.errno not in _UNSUPPORTED:
            raise SettingsError(f"{file}: {name} cannot be locked: {why.strerror}") from why
        _log.warning("%s: the file system knows no locks: start nothing twice at once", file)


def _file(folder: Path, name: str) -> Path:
    return folder / sha256(name.encode()).hexdigest()[:32]


_LOG = logging.getLogger("bench_assets.locks")

LEASE = 60.0  # s after which a lock is another's, unless its holder says that it lives
_MOST_WAITING = 2.0  # s between two looks
_AT_THE_END = 5.0  # s that a database may be away when a lock is let go: else it ends by itself
VERSION = 1
_SCHEMA = """
CREATE TABLE bench_locks (name bytea PRIMARY KEY, owner text NOT NULL, process text NOT NULL,
    shown text NOT NULL, until timestamptz NOT NULL);
"""
_UNTIL = "clock_timestamp() + %(seconds)s * interval '1 second'"
_TAKE = f"""
INSERT INTO bench_locks AS held SELECT wanted.name, %(owner)s, %(process)s, %(shown)s, {_UNTIL}
FROM unnest(%(names)s::bytea[]) AS wanted (name)
WHERE NOT EXISTS (  -- which would only lock what others hold, again and again
    SELECT FROM bench_locks AS there WHERE there.name = wanted.name
    AND there.until >= clock_timestamp() AND there.owner <> %(owner)s
)
ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, process = excluded.process,
    shown = excluded.shown, until = excluded.until
WHERE held.until < clock_timestamp() OR held.owner = excluded.owner RETURNING name
"""


class _LockHolder(NamedTuple):
    """A lock that another holds."""

    name: str
    owner: str = ""
    process: str = ""
    shown: str = "another process"


class PostgresLocks:
    """The locks in a database."""

    def __init__(self, database: Database, lease: float = LEASE) -> None:
        """Say where they are, and for how many seconds one holds; nothing is opened yet."""
        self._database = database
        self._lease = lease

    @contextmanager
    def held(self, names: Iterable[str], waits: Callable[[str], object]) -> Generator[None]:
        """Hold locks until the block ends; waits for those that others hold.

        Args:
            names: What is locked.
            waits: Is told whom a lock is waited for.

        Raises:
            HomeError: If the database cannot be used.
        """
        self._database.make_ready("locks", VERSION, _SCHEMA)
        taking = _LockAcquisition(names, self._lease)
        over = threading.Event()
        renewing = threading.Thread(
            target=self._renew, args=(taking, over), name="locks", daemon=True
        )
        try:
            with self._database.line() as line:
                taking.wait(line, waits)
            renewing.start()
            yield
        finally:
            over.set()
            self._let_go(taking)

    def _renew(self, taking: "_LockAcquisition", over: threading.Event) -> None:
        """Say that the holder lives until it is over."""
        was_ours = True
        while not over.wait(self._lease / 4):
            try:
                with self._database.line() as line:
                    is_ours = line.run(taking.renew)
                if was_ours and not (is_ours or over.is_set()):
                    _LOG.warning("a lock was lost while the database was away: another may have it")
                was_ours = is_ours
            except HomeError as why:
                _LOG.warning("%s", why)

    def _let_go(self, taking: "_LockAcquisition") -> None:
        try:
            with self._database.line() as line:
                line.run(taking.end, _AT_THE_END)
        except HomeError as why:
            _LOG.warning("%s; a lock ends by itself in a minute", why)


class _LockAcquisition:
    """The locks that one wants, or has."""

    def __init__(self, names: Iterable[str], lease: float) -> None:
        # All take theirs in one order, and so none waits for one that waits for it.
        self._names = {sha256(name.encode()).digest(): name for name in sorted(set(names))}
        self._ordered = sorted(self._names)
        self._here = this_process()
        self._lease = lease
        self._owner = uuid4().hex
        self._given = {
            "owner": self._owner,
            "process": str(self._here or ""),
            "shown": f"process {os.getpid()} on {socket.gethostname()}",
            "seconds": lease,
            "names": self._ordered,
        }

    def wait(self, line: ConnectionPool, waits: Callable[[str], object]) -> None:
        """Take all, one after the other; what is taken stays while the next is waited for."""
        told, between = "", 0.1
        while held := line.run(self._take):
            if held.owner != told:
                waits(f"{held.name}: waiting for {held.shown}")
                told = held.owner
            if self._is_gone(held):
                line.run(partial(_end, owner=held.owner))
                continue
            time.sleep(between)
            between = min(2 * between, _MOST_WAITING, self._lease / 4)

    def renew(self, db: Connection) -> bool:
        """Hold all for another lease; whether they were still ours."""
        sql = f"UPDATE bench_locks SET until = {_UNTIL} WHERE owner = %(owner)s"
        return int(db.execute(sql, self._given).rowcount) == len(self._ordered)

    def end(self, db: Connection) -> None:
        """Let go of all."""
        _end(db, self._owner)

    def _take(self, db: Connection) -> _LockHolder | None:
        """Take locks up to the first that another holds, which is given back."""
        got = {bytes(row["name"]) for row in db.execute(_TAKE, self._given)}
        ours = list(takewhile(got.__contains__, self._ordered))
        if len(ours) == len(self._ordered):
            return None
        sql = "DELETE FROM bench_locks WHERE name = ANY(%s)"
        db.execute(sql, ([name for name in got if name not in ours],))
        return self._holder(db, self._ordered[len(ours)])

    def _holder(self, db: Connection, name: bytes) -> _LockHolder:
        sql = "SELECT owner, process, shown FROM bench_locks WHERE name = %s"
        row = db.execute(sql, (name,)).fetchone()
        return _LockHolder(self._names[name], **row) if row else _LockHolder(self._names[name])

    def _is_gone(self, held: _LockHolder) -> bool:
        """Whether a holder was a process of this machine that has ended."""
        process = ProcessIdentity.parse(held.process)
        return bool(process and self._here and is_gone(process, self._here))


def _end(db: Connection, owner: str) -> None:
    db.execute("DELETE FROM bench_locks WHERE owner = %s", (owner,))
