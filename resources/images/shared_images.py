"""Images as objects that homes share; those that were fetched are kept on this machine.

Images that were fetched, kept on this machine for the next who asks; never too many.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from bench_assets.core.schema.errors import HomeError, ImageError
from resources.images.locations import KIND, as_stored, is_digest
from resources.storage.atomic_write import written_aside
from resources.storage.blobs.opening import open_blobs
from resources.storage.blobs.port import Blobs

_LOOK_AGAIN = 0.02  # of the limit: after so many new bytes it is looked what lies there;
_OF_ROOM = 1 / 16  # of what is free, if that is more: as many processes as that stay below it
_LEAVE = 0.9  # of the limit: what stays when something has to go


class FetchedCache:
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


_THREADS = 16  # objects that are waited for at once
_AT_ONCE = 256  # images, between two looks at the room that is left


@dataclass(frozen=True, slots=True)
class SharedImages:
    """Objects of a store; who reads them keeps them near."""

    objects: str  # as [storage] names them
    endpoint: str
    fetched: str  # a folder
    limit: int  # bytes of it

    @property
    def name(self) -> str:
        """The address."""
        return self._blobs.place

    def where(self, digest: str) -> str:
        """The address of the object."""
        return f"{self.name}/{_named(digest)}"

    def goes(self, digest: str) -> str:
        """None of ours."""
        return ""

    def read(self, digest: str, *, afresh: bool = False) -> bytes:
        """Read what was fetched, or else fetch it."""
        if not is_digest(digest):
            raise ImageError(f"no image {digest} in {self.name}")
        if not afresh and (known := self._fetched.get(digest)):
            return known
        if (data := self._blobs.get(_named(digest))) is None:
            raise ImageError(f"no image {digest} in {self.name}")
        as_stored(data, digest, self.name)
        if not afresh:
            self._fetched.keep(digest, data)
        return data

    def keep(self, digest: str, data: bytes) -> None:
        """Write the object, unless it lies there whole; of two at once one writes."""
        there = self._blobs.get(_named(digest))
        if there is None and self._blobs.put_new(_named(digest), data):
            there = data
        if there is not None and there != data:
            self._blobs.put(_named(digest), data)
        self._fetched.keep(digest, data)

    def sizes(self, digests: Iterable[str]) -> dict[str, int]:
        """List the objects that begin alike."""
        wanted = {digest for digest in digests if is_digest(digest)}
        listed = self._listed(sorted({digest[:2] for digest in wanted}))
        return {digest: size for digest, size in listed if digest in wanted}

    def every(self) -> Iterator[str]:
        """All objects that have such a name, in parts: there may be a million."""
        listed = self._listed([f"{n:02x}" for n in range(256)])
        return (digest for digest, _ in listed if is_digest(digest))

    def bring(self, digests: Iterable[str]) -> None:
        """Fetch those that are not here, several at once, and no more than may lie here."""
        wanted = [digest for digest in dict.fromkeys(digests) if is_digest(digest)]
        here = self._fetched.sizes(wanted)
        room = self.limit - sum(here.values())
        missing = [digest for digest in wanted if digest not in here]
        with ThreadPoolExecutor(_THREADS) as threads:
            while missing and room > 0:
                room -= sum(threads.map(self._brought, missing[:_AT_ONCE]))
                del missing[:_AT_ONCE]

    def _brought(self, digest: str) -> int:
        try:
            return len(self.read(digest))
        except ImageError:  # whoever reads it says so
            return 0

    def _listed(self, beginnings: Sequence[str]) -> Iterator[tuple[str, int]]:
        """Digests and sizes of all that begin so."""
        with ThreadPoolExecutor(_THREADS) as threads:
            for n in range(0, len(beginnings), _THREADS):
                part = beginnings[n : n + _THREADS]
                for found in threads.map(lambda two: list(self._blobs.list(two)), part):
                    yield from ((one.name.rpartition("/")[2], one.size) for one in found)

    @property
    def _blobs(self) -> Blobs:
        return _opened(self.objects, self.endpoint)

    @property
    def _fetched(self) -> FetchedCache:
        return _kept_here(self.fetched, self.limit)


@cache
def _opened(objects: str, endpoint: str) -> Blobs:
    """Opened once in each process, which makes connections of its own."""
    return open_blobs(Path(), KIND, objects, endpoint)


@cache
def _kept_here(folder: str, limit: int) -> FetchedCache:
    return FetchedCache(Path(folder), limit)


def _named(digest: str) -> str:
    return f"{digest[:2]}/{digest}"
