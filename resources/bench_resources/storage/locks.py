"""Locks of tables and files: files of a home, or leases in a database that homes share.

The kernel releases a file lock when its process ends. A lease is renewed by a thread of its holder;
if the holder is gone it expires, or is taken over at once by a process of the same machine. If the
database is unreachable for longer than a lease, a second process may enter: both then write the
same table, but no request is sent twice.
"""

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from filelock import FileLock, Timeout

from bench_assets.core.schema.errors import HomeError
from bench_resources.storage.process_identity import ProcessIdentity, has_ended, this_process

if TYPE_CHECKING:
    from bench_resources.storage.database import Database
    from bench_resources.storage.leases import LeaseHolder, Leases

_LOG = logging.getLogger("bench_assets.locks")
_POLL = 0.1  # s between two attempts to take a file lock

LEASE = 60.0  # s that a lease lasts
_FIRST_PAUSE = 0.1  # s between the first two attempts to take a lease
_LONGEST_PAUSE = 2.0  # s between two attempts to take a lease, at most
_RELEASE_PATIENCE = 5.0  # s to wait for a database that is away when a lease is released


class LockWait(NamedTuple):
    """A lock that another process holds, and a description of that process."""

    lock: str
    holder: str

    def __str__(self) -> str:
        """Message for users."""
        return f"{self.lock}: waiting for {self.holder}"


class FileLocks:
    """The locks of one home."""

    def __init__(self, folder: Path) -> None:
        """Name the folder of the lock files."""
        self._folder = folder

    def held(
        self, names: Iterable[str], report_wait: Callable[[LockWait], object]
    ) -> AbstractContextManager[None]:
        """Hold locks as ``hold_locks`` does."""
        return hold_locks(self._folder, names, report_wait)


@contextmanager
def hold_locks(
    folder: Path, names: Iterable[str], report_wait: Callable[[LockWait], object]
) -> Generator[None]:
    """Hold file locks until the block ends; their sorted order excludes deadlocks.

    ``report_wait`` is called for each lock that another process holds.

    Raises:
        HomeError: If a lock file cannot be written.
    """
    with ExitStack() as stack:
        for name in sorted(set(names)):
            stack.enter_context(_hold_lock(_lock_file(folder, name), name, report_wait))
        yield


def is_lock_free(folder: Path, name: str) -> bool:
    """Whether a lock was taken once and is free now."""
    file = _lock_file(folder, name)
    if not file.exists():
        return False
    try:
        with FileLock(file, blocking=False):
            return True
    except (Timeout, OSError):
        return False


def delete_lock_file(folder: Path, name: str) -> None:
    """Delete the file of a lock that will not be taken again."""
    _lock_file(folder, name).unlink(missing_ok=True)


@contextmanager
def _hold_lock(file: Path, name: str, report_wait: Callable[[LockWait], object]) -> Generator[None]:
    lock = FileLock(file)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            report_wait(LockWait(lock=name, holder=_holder(file)))
            lock.acquire(poll_interval=_POLL)
    except OSError as error:
        raise HomeError(f"{file}: cannot lock {name}: {error.strerror}") from error
    try:
        with suppress(OSError):  # on a full disk, other processes cannot name the holder
            file.write_text(f"process {os.getpid()} on {socket.gethostname()}")
        yield
    finally:
        lock.release()


def _holder(file: Path) -> str:
    """Description of the process that holds a lock file."""
    with suppress(OSError):
        return file.read_text(errors="replace") or "another process"
    return "another process"


def _lock_file(folder: Path, name: str) -> Path:
    return folder / sha256(name.encode()).hexdigest()[:32]


class LeaseLocks:
    """The locks in a database."""

    def __init__(self, database: "Database", lease: float = LEASE) -> None:
        """Name the database; a lock that is not renewed for ``lease`` s is free."""
        self._database = database
        self._lease = lease

    @contextmanager
    def held(
        self, names: Iterable[str], report_wait: Callable[[LockWait], object]
    ) -> Generator[None]:
        """Hold locks until the block ends.

        Raises:
            HomeError: If the database cannot be used.
        """
        from bench_resources.storage.leases import Leases

        leases = Leases(self._database, self._lease, note=str(this_process() or ""))
        keys = {f"lock:{sha256(name.encode()).hexdigest()}": name for name in set(names)}
        finished = threading.Event()
        renewing = threading.Thread(
            target=_renew, args=(leases, len(keys), finished), name="locks", daemon=True
        )
        try:
            _acquire(leases, keys, report_wait)
            renewing.start()
            yield
        finally:
            finished.set()
            try:
                leases.release(patience=_RELEASE_PATIENCE)
            except HomeError as error:
                _LOG.warning("%s; the locks end in %.0f s", error, self._lease)


Locks: TypeAlias = FileLocks | LeaseLocks
"""Locks of tables."""


def _acquire(
    leases: "Leases", keys: dict[str, str], report_wait: Callable[[LockWait], object]
) -> None:
    """Acquire all locks in one order, keeping those already held."""
    keys_in_order = sorted(keys)
    reported_owner, pause = "", _FIRST_PAUSE
    while (n_acquired := _take_in_order(leases, keys_in_order)) < len(keys_in_order):
        key = keys_in_order[n_acquired]
        holder = leases.holder(key)
        if holder is None:
            continue
        if holder.owner != reported_owner:
            report_wait(LockWait(lock=keys[key], holder=_describe_holder(holder)))
            reported_owner = holder.owner
        if _has_ended(holder):
            leases.release_of(holder.owner)
            continue
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE, leases.seconds / 4)


def _take_in_order(leases: "Leases", keys_in_order: list[str]) -> int:
    """Take leases up to the first one that another owner holds, and return their number."""
    taken = leases.take(keys_in_order)
    acquired = list(takewhile(lambda key: key in taken, keys_in_order))
    leases.release(taken.difference(acquired))
    return len(acquired)


def _renew(leases: "Leases", n_leases: int, finished: threading.Event) -> None:
    """Renew leases until an event is set; warn once if some of them were lost."""
    had_all = True
    while not finished.wait(leases.seconds / 4):
        try:
            has_all = leases.renew() == n_leases
            if had_all and not (has_all or finished.is_set()):
                _LOG.warning(
                    "a lock was lost during a database outage, and may be held by another process"
                )
            had_all = has_all
        except HomeError as error:
            _LOG.warning("%s", error)


def _describe_holder(holder: "LeaseHolder") -> str:
    process = ProcessIdentity.parse(holder.note)
    if process is None:
        return "another process"
    return f"process {process.pid} on {process.host.partition(' ')[0]}"


def _has_ended(holder: "LeaseHolder") -> bool:
    """Whether a holder was a process of this machine that has ended."""
    process, current = ProcessIdentity.parse(holder.note), this_process()
    return bool(process and current and has_ended(process, current))
