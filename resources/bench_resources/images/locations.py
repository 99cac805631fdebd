"""Image storage by digest: the port, files of a folder, and shared objects with a local cache.

A location can be sent to other processes: it is an address, and is opened where it is read.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from shlex import quote
from stat import S_ISREG
from threading import Lock
from typing import NamedTuple, Protocol

from bench_assets.core.schema.errors import HomeError, ImageError
from bench_resources.config.stores import open_shared_blobs
from bench_resources.storage.atomic_write import open_atomic
from bench_resources.storage.blobs.port import Blobs

KIND = "images"
"""Folder of the images in a home or in the shared store."""

_DIGITS = frozenset("0123456789abcdef")


class ImageLocation(Protocol):
    """Location of images; can be sent to other processes."""

    def __hash__(self) -> int:
        """Equal for equal locations."""
        ...

    @property
    def name(self) -> str:
        """The folder or address, for messages."""
        ...

    def where(self, digest: str) -> str:
        """Path or address of an image, for messages; it may not exist."""
        ...

    def goes(self, digest: str) -> str:
        """Shell command that deletes an image; "" for an object store."""
        ...

    def read(self, digest: str, *, afresh: bool = False) -> bytes:
        """Read the original bytes of an image; ``afresh`` bypasses the cache.

        Raises:
            ImageError: If there is no such image, or it is damaged.
            HomeError: If the object store cannot be reached for a minute.
        """
        ...

    def keep(self, digest: str, data: bytes) -> None:
        """Store bytes under their digest, replacing any others.

        Raises:
            HomeError: If they cannot be written.
        """
        ...

    def sizes(self, digests: Iterable[str]) -> dict[str, int]:
        """Sizes of the available images, without reading them."""
        ...

    def every(self) -> Iterator[str]:
        """Digests of all images."""
        ...

    def bring(self, digests: Iterable[str]) -> None:
        """Cache images that will be read soon; missing ones are left out."""
        ...


@dataclass(frozen=True, slots=True)
class ImageFolder:
    """Images as files of a folder."""

    folder: str

    @property
    def name(self) -> str:
        """The folder."""
        return self.folder

    def where(self, digest: str) -> str:
        """Path of the file."""
        return str(self.file(digest))

    def goes(self, digest: str) -> str:
        """Command that deletes the file."""
        return f"rm {quote(self.where(digest))}"

    def file(self, digest: str) -> Path:
        """Path of the file."""
        return Path(self.folder, digest[:2], digest)

    def read(self, digest: str, *, afresh: bool = False) -> bytes:
        """Read and verify the file."""
        try:
            data = self.file(digest).read_bytes()
        except (FileNotFoundError, ValueError) as error:  # ValueError: an invalid file name
            raise ImageError(f"no image {digest} in {self.folder}") from error
        except OSError as error:
            message = f"image {digest} in {self.folder} cannot be read: {error.strerror}"
            raise ImageError(message) from error
        return verified_image(data, digest, self.folder)

    def keep(self, digest: str, data: bytes) -> None:
        """Write the file, unless it exists with these bytes."""
        file = self.file(digest)
        if not _has_content(file, data):
            with open_atomic(file, sync=False) as written:
                written.write(data)

    def sizes(self, digests: Iterable[str]) -> dict[str, int]:
        """Sizes of the available images, without reading them."""
        sizes: dict[str, int] = {}
        for digest in digests:
            with suppress(OSError, ValueError):  # ValueError: an invalid file name
                status = self.file(digest).stat()
                sizes |= {digest: status.st_size} if S_ISREG(status.st_mode) else {}
        return sizes

    def every(self) -> Iterator[str]:
        """Digests of all files that are named by one."""
        names = (file.name for file in Path(self.folder).glob("??/*"))
        return (name for name in names if is_digest(name))

    def bring(self, digests: Iterable[str]) -> None:
        """Do nothing: the files are local."""


def is_digest(name: str) -> bool:
    """Whether a name is a SHA-256 digest in lower-case hexadecimal."""
    return len(name) == 64 and set(name) <= _DIGITS


def verified_image(data: bytes, digest: str, place: str) -> bytes:
    """Return bytes unchanged if they match a digest.

    Raises:
        ImageError: If they do not match.
    """
    if sha256(data).hexdigest() != digest:
        raise ImageError(
            f"image {digest} in {place} is not the one that was stored: damaged or replaced;"
            " `bench home verify` names the command that restores it"
        )
    return data


def _has_content(file: Path, data: bytes) -> bool:
    """Whether a file exists with these bytes."""
    try:
        return file.stat().st_size == len(data) and file.read_bytes() == data
    except OSError:
        return False


_RELIST_SHARE = 0.02  # share of the limit: new bytes after which the folder is listed again;
_FREE_SPACE_SHARE = (
    1 / 16
)  # or this share of the free bytes, if more: 16 processes stay below the limit
_KEPT_SHARE = 0.9  # share of the limit that stays after an eviction


class ImageDiskCache:
    """Cache of files named by their digests; the oldest are evicted.

    Several processes may share a folder: each lists it again after some megabytes, so that together
    they exceed the limit only slightly. A write error, such as a full disk, is ignored.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        """Store the settings; no file is read.

        Args:
            folder: Folder for this cache alone; created if missing.
            limit: Bytes of all files together.
        """
        self._folder, self._limit = folder, limit
        self._room = 0  # bytes that may be added before the folder is listed again
        self._lock = Lock()

    def get(self, digest: str) -> bytes | None:
        """Read a file; one that does not match its name is deleted."""
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
        """Write a file, and evict the oldest files beyond the limit."""
        with suppress(HomeError):
            with open_atomic(self._file(digest), sync=False) as file:
                file.write(data)
            with self._lock:
                self._room -= len(data)
                if self._room < 0:
                    self._make_room()

    def sizes(self, digests: Iterable[str]) -> dict[str, int]:
        """Sizes of the cached files in bytes, unverified."""
        sizes = {}
        for digest in digests:
            with suppress(OSError):
                sizes[digest] = self._file(digest).stat().st_size
        return sizes

    def _make_room(self) -> None:
        files = sorted(self._there())
        n_bytes = sum(file.n_bytes for file in files)
        surplus = n_bytes - self._limit * _KEPT_SHARE if n_bytes > self._limit else 0
        for file in files:
            if surplus <= 0:
                break
            with suppress(OSError):  # another process was faster
                os.unlink(file.path)  # noqa: PTH108 - a hundred thousand Paths would be slow
            surplus -= file.n_bytes
        free = max(0, self._limit - n_bytes)
        self._room = int(max(self._limit * _RELIST_SHARE, free * _FREE_SPACE_SHARE))

    def _there(self) -> "Iterator[_File]":
        """Every file, including unfinished ones."""
        folders = [str(self._folder)]
        while folders:
            with suppress(OSError), os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                        continue
                    with suppress(OSError):
                        status = entry.stat()
                        yield _File(status.st_mtime_ns, status.st_size, entry.path)

    def _file(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest


class _File(NamedTuple):
    written: int  # ns
    n_bytes: int
    path: str


_THREADS = 16  # concurrent requests
_BATCH_SIZE = 256  # images between two checks of the remaining space


@dataclass(frozen=True, slots=True)
class ObjectImages:
    """Images in an object store, with a local cache."""

    objects: str  # address, as in [storage]
    endpoint: str
    fetched: str  # folder of the cache
    limit: int  # bytes of the cache

    @property
    def name(self) -> str:
        """The address."""
        return self._blobs.place

    def where(self, digest: str) -> str:
        """The address of the object."""
        return f"{self.name}/{_object_name(digest)}"

    def goes(self, digest: str) -> str:
        """Empty: objects are deleted with the store's own tools."""
        return ""

    def read(self, digest: str, *, afresh: bool = False) -> bytes:
        """Read the original bytes of an image; ``afresh`` bypasses the cache."""
        if not is_digest(digest):
            raise ImageError(f"no image {digest} in {self.name}")
        if not afresh and (known := self._cache.get(digest)):
            return known
        if (data := self._blobs.get(_object_name(digest))) is None:
            raise ImageError(f"no image {digest} in {self.name}")
        verified_image(data, digest, self.name)
        if not afresh:
            self._cache.keep(digest, data)
        return data

    def keep(self, digest: str, data: bytes) -> None:
        """Write the object, unless it exists with these bytes; of concurrent calls one writes."""
        existing = self._blobs.get(_object_name(digest))
        if existing is None and self._blobs.put_new(_object_name(digest), data):
            existing = data
        if existing is not None and existing != data:
            self._blobs.put(_object_name(digest), data)
        self._cache.keep(digest, data)

    def sizes(self, digests: Iterable[str]) -> dict[str, int]:
        """Sizes of the stored images; lists all objects with the same first two digits."""
        wanted = {digest for digest in digests if is_digest(digest)}
        listed = self._listed(sorted({digest[:2] for digest in wanted}))
        return {digest: size for digest, size in listed if digest in wanted}

    def every(self) -> Iterator[str]:
        """Digests of all objects that are named by one, listed in parts: there may be a million."""
        listed = self._listed([f"{n:02x}" for n in range(256)])
        return (digest for digest, _ in listed if is_digest(digest))

    def bring(self, digests: Iterable[str]) -> None:
        """Fetch uncached images concurrently, up to the limit of the cache."""
        wanted = [digest for digest in dict.fromkeys(digests) if is_digest(digest)]
        cached = self._cache.sizes(wanted)
        room = self.limit - sum(cached.values())
        missing = [digest for digest in wanted if digest not in cached]
        with ThreadPoolExecutor(_THREADS) as threads:
            while missing and room > 0:
                room -= sum(threads.map(self._brought, missing[:_BATCH_SIZE]))
                del missing[:_BATCH_SIZE]

    def _brought(self, digest: str) -> int:
        try:
            return len(self.read(digest))
        except ImageError:  # reported by the reader
            return 0

    def _listed(self, beginnings: Sequence[str]) -> Iterator[tuple[str, int]]:
        """List digests and sizes of the objects whose names start with one of these."""
        with ThreadPoolExecutor(_THREADS) as threads:
            for n in range(0, len(beginnings), _THREADS):
                part = beginnings[n : n + _THREADS]
                for listed in threads.map(lambda two: list(self._blobs.list(two)), part):
                    yield from ((blob.name.rpartition("/")[2], blob.size) for blob in listed)

    @property
    def _blobs(self) -> Blobs:
        return _open_objects(self.objects, self.endpoint)

    @property
    def _cache(self) -> ImageDiskCache:
        return _disk_cache(self.fetched, self.limit)


@cache
def _open_objects(objects: str, endpoint: str) -> Blobs:
    """Open the store, once per process: connections cannot be shared."""
    return open_shared_blobs(Path(), KIND, objects, endpoint)


@cache
def _disk_cache(folder: str, limit: int) -> ImageDiskCache:
    return ImageDiskCache(Path(folder), limit)


def _object_name(digest: str) -> str:
    return f"{digest[:2]}/{digest}"
