"""Image storage by digest: the port, files of a folder, and shared objects with a local cache.

A location can be sent to other processes: it is an address, and is opened where it is read.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from shlex import quote
from stat import S_ISREG
from typing import Protocol

from bench_assets.core.schema.errors import HomeError, ImageError
from bench_resources.config.stores import open_shared_blobs
from bench_resources.storage.atomic_write import open_atomic
from bench_resources.storage.blobs.port import BlobEntry, Blobs

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

    def address(self, digest: str) -> str:
        """Path or address of an image, for messages; it may not exist."""
        ...

    def deletion_command(self, digest: str) -> str:
        """Shell command that deletes an image; "" for an object store."""
        ...

    def read(self, digest: str, *, bypass_cache: bool = False) -> bytes:
        """Read the original bytes of an image; with ``bypass_cache``, of the store itself.

        Raises:
            ImageError: If there is no such image, or it is damaged.
            HomeError: If the object store cannot be reached for a minute.
        """
        ...

    def write(self, digest: str, data: bytes) -> None:
        """Store bytes under their digest, replacing any others.

        Raises:
            HomeError: If they cannot be written.
        """
        ...

    def sizes(self, digests: Iterable[str]) -> dict[str, int]:
        """Sizes of the available images, without reading them."""
        ...

    def stored_digests(self) -> Iterator[str]:
        """Digests of all images."""
        ...

    def fetch(self, digests: Iterable[str]) -> None:
        """Cache images that will be read soon; missing ones are left out."""
        ...


@dataclass(frozen=True, slots=True)
class ImageFolder:
    """Images as files of a folder."""

    name: str
    """The folder."""

    def address(self, digest: str) -> str:
        """Path of the file."""
        return str(self.file(digest))

    def deletion_command(self, digest: str) -> str:
        """Command that deletes the file."""
        return f"rm {quote(self.address(digest))}"

    def file(self, digest: str) -> Path:
        """Path of the file."""
        return Path(self.name, digest[:2], digest)

    def read(self, digest: str, *, bypass_cache: bool = False) -> bytes:
        """Read and verify the file."""
        try:
            data = self.file(digest).read_bytes()
        except (FileNotFoundError, ValueError) as error:  # ValueError: an invalid file name
            raise ImageError(f"no image {digest} in {self.name}") from error
        except OSError as error:
            message = f"image {digest} in {self.name} cannot be read: {error.strerror}"
            raise ImageError(message) from error
        return verified_image(data, digest, self.name)

    def write(self, digest: str, data: bytes) -> None:
        """Write the file, unless it exists with these bytes."""
        file = self.file(digest)
        if not _has_content(file, data):
            # Not synced: a file that a power cut damages is written again.
            with open_atomic(file, sync=False) as target:
                target.write(data)

    def sizes(self, digests: Iterable[str]) -> dict[str, int]:
        """Sizes of the available images, without reading them."""
        sizes: dict[str, int] = {}
        for digest in digests:
            with suppress(OSError, ValueError):  # ValueError: an invalid file name
                status = self.file(digest).stat()
                if S_ISREG(status.st_mode):
                    sizes[digest] = status.st_size
        return sizes

    def stored_digests(self) -> Iterator[str]:
        """Digests of all files that are named by one."""
        names = (file.name for file in Path(self.name).glob("??/*"))
        return (name for name in names if is_digest(name))

    def fetch(self, digests: Iterable[str]) -> None:
        """Do nothing: the files are local."""


def is_digest(name: str) -> bool:
    """Whether a name is a SHA-256 digest in lower-case hexadecimal."""
    return len(name) == 64 and set(name) <= _DIGITS


def verified_image(data: bytes, digest: str, place: str) -> bytes:
    """Return bytes that match a digest; ``place`` names their store in the error.

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


_THREADS = 16  # concurrent requests to an object store


@dataclass(frozen=True, slots=True)
class ObjectImages:
    """Images in an object store, with a local cache."""

    objects: str  # address, as in [storage]
    endpoint: str
    fetched: str  # folder of the cache

    @property
    def name(self) -> str:
        """The address."""
        return self._blobs.place

    def address(self, digest: str) -> str:
        """The address of the object."""
        return f"{self.name}/{_object_name(digest)}"

    def deletion_command(self, digest: str) -> str:
        """Empty: objects are deleted with the store's own tools."""
        return ""

    def read(self, digest: str, *, bypass_cache: bool = False) -> bytes:
        """Read an image from the cache, or else from the store into the cache."""
        if not is_digest(digest):
            raise ImageError(f"no image {digest} in {self.name}")
        if not bypass_cache:
            with suppress(ImageError):  # not there, or damaged
                return self._cache.read(digest)
        data = self._blobs.get(_object_name(digest))
        if data is None:
            raise ImageError(f"no image {digest} in {self.name}")
        verified_image(data, digest, self.name)
        if not bypass_cache:
            self._write_cache(digest, data)
        return data

    def write(self, digest: str, data: bytes) -> None:
        """Write the object, unless it exists with these bytes; one of concurrent calls writes."""
        existing = self._blobs.get(_object_name(digest))
        if existing is None and self._blobs.put_new(_object_name(digest), data):
            existing = data
        if existing is not None and existing != data:
            self._blobs.put(_object_name(digest), data)
        self._write_cache(digest, data)

    def sizes(self, digests: Iterable[str]) -> dict[str, int]:
        """Sizes of the stored images; lists all objects with the same first two digits."""
        valid_digests = {digest for digest in digests if is_digest(digest)}
        listed = self._list_objects(sorted({digest[:2] for digest in valid_digests}))
        return {digest: size for digest, size in listed if digest in valid_digests}

    def stored_digests(self) -> Iterator[str]:
        """Digests of all objects that are named by one, listed by prefix: there may be many."""
        listed = self._list_objects([f"{n:02x}" for n in range(256)])
        return (digest for digest, _ in listed if is_digest(digest))

    def fetch(self, digests: Iterable[str]) -> None:
        """Fetch uncached images concurrently."""
        valid_digests = [digest for digest in dict.fromkeys(digests) if is_digest(digest)]
        cached = self._cache.sizes(valid_digests)
        with ThreadPoolExecutor(_THREADS) as threads:
            list(threads.map(self._fetch, [name for name in valid_digests if name not in cached]))

    def _fetch(self, digest: str) -> None:
        with suppress(ImageError):  # reported by the reader
            self.read(digest)

    def _write_cache(self, digest: str, data: bytes) -> None:
        with suppress(HomeError):  # such as a full disk: the store has it
            self._cache.write(digest, data)

    def _list_objects(self, prefixes: Sequence[str]) -> Iterator[tuple[str, int]]:
        """List digests and sizes of the objects whose names start with one of these."""

        def list_prefix(prefix: str) -> list[BlobEntry]:
            return list(self._blobs.list(prefix))

        with ThreadPoolExecutor(_THREADS) as threads:
            for start in range(0, len(prefixes), _THREADS):
                for blobs in threads.map(list_prefix, prefixes[start : start + _THREADS]):
                    yield from ((blob.name.rpartition("/")[2], blob.size) for blob in blobs)

    @property
    def _blobs(self) -> Blobs:
        return _open_objects(self.objects, self.endpoint)

    @property
    def _cache(self) -> ImageFolder:
        return ImageFolder(self.fetched)


@cache
def _open_objects(objects: str, endpoint: str) -> Blobs:
    """Open the store, once per process: connections cannot be shared."""
    return open_shared_blobs(Path(), KIND, objects, endpoint)


def _object_name(digest: str) -> str:
    return f"{digest[:2]}/{digest}"
