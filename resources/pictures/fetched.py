"""Pictures that were fetched, kept on this machine for the next who asks; never too many."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from bench_assets.core.errors import HomeError
from resources.disk.writing import written_aside

_LOOK_AGAIN = 0.02  # of the limit: after so many new bytes it is looked what lies there;
_OF_ROOM = 1 / 16  # of what is free, if that is more: as many processes as that stay below it
_LEAVE = 0.9  # of the limit: what stays when something has to go


class Fetched:
    """Files named by the digests of their bytes, the newest of which stay.

    Several processes may share a folder: each looks again after some megabytes, so that together
    they pass the limit by little. Nothing here is ever needed: a full disk keeps nobody waiting.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        """Look at nothing yet.

        Args:
            folder: Nobody else's; made if need be.
            limit: bytes of all files together.
        """
        self._folder, self._limit = folder, limit
        self._room = 0  # bytes that may come before it is looked again
        self._lock = Lock()

    def get(self, digest: str) -> bytes | None:
        """Read a file; one that is not what its name says is deleted, and not there."""
        file = self._file(digest)
        try:
            data = file.read_bytes()
        except OSError:
            return None
        if sha256(data).hexdigest() == digest:
            return data
        with suppress(OSError):
            file.unlink()
        return None

    def keep(self, digest: str, data: bytes) -> None:
        """Keep a file, if there is room for it, and delete what came longest ago."""
        with suppress(HomeError):
            with written_aside(self._file(digest), sync=False) as file:
                file.write(data)
            with self._lock:
                self._room -= len(data)
                if self._room < 0:
                    self._make_room()

    def sizes(self, digests: Iterable[str]) -> dict[str, int]:
        """Bytes of those that lie here; they are not looked into."""
        found = {}
        for digest in digests:
            with suppress(OSError):
                found[digest] = self._file(digest).stat().st_size
        return found

    def _make_room(self) -> None:
        there = sorted(self._there())
        n_bytes = sum(one.n_bytes for one in there)
        surplus = n_bytes - self._limit * _LEAVE if n_bytes > self._limit else 0
        for one in there:
            if surplus <= 0:
                break
            with suppress(OSError):  # another process was quicker
                os.unlink(one.path)  # noqa: PTH108 - of a hundred thousand no Path is made
            surplus -= one.n_bytes
        free = max(0, self._limit - n_bytes)
        self._room = int(max(self._limit * _LOOK_AGAIN, free * _OF_ROOM))

    def _there(self) -> "Iterator[_File]":
        """Every file, what somebody could not finish as well."""
        folders = [str(self._folder)]
        while folders:
            with suppress(OSError), os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                        continue
                    with suppress(OSError):
                        about = entry.stat()
                        yield _File(about.st_mtime_ns, about.st_size, entry.path)

    def _file(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest


class _File(NamedTuple):
    written: int  # ns
    n_bytes: int
    path: str
