"""File locks on tables in a home folder.

The kernel holds them, by byte ranges of files (``fcntl``), and lets go when a process ends, however
that was: no file that somebody left behind ever keeps anybody waiting. Over NFS the server does,
where the mount is one with locks, as it is unless it says ``nolock``. A lock is a process's: its
threads do not exclude each other, and its children have none.
"""

import errno
import fcntl
import logging
import os
import socket
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from bench_assets.core.schema.errors import SettingsError

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


class LocksHere:
    """The locks of one home."""

    def __init__(self, folder: Path) -> None:
        """Say in which folder they are."""
        self._folder = folder

    def held(
        self, names: Iterable[str], waits: Callable[[str], object]
    ) -> AbstractContextManager[None]:
        """Hold locks until the block ends, as ``locked`` does."""
        return locked(self._folder, names, waits)


@contextmanager
def locked(
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
            held.enter_context(_locked(_file(folder, name), name, waits, kept))
        yield


def is_free(folder: Path, name: str) -> bool:
    """Whether a lock was taken once and nobody holds it now; its holder must not ask."""
    try:
        with _file(folder, name).open("r+b") as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # held, never taken, or not to be known
        return False
    return True


def holders(folder: Path) -> list[str]:
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


def forget(folder: Path, name: str) -> None:
    """Delete the file of a lock that nobody will take again."""
    with suppress(OSError):
        _file(folder, name).unlink()


@contextmanager
def _locked(file: Path, name: str, waits: Callable[[str], object], kept: str) -> Generator[None]:
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
