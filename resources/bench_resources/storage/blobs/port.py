"""Port to blobs (bytes under names): files of a folder, or objects of a shared store."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from bench_assets.core.schema.errors import HomeError


class BlobEntry(NamedTuple):
    """An entry of a listing."""

    name: str
    size: int  # bytes
    version: str
    """Changes whenever the bytes change; equal bytes may have different versions."""
    at: float
    """Time of writing by the clock of the disk or the store, in s since the epoch."""


class Blobs(Protocol):
    """Bytes under names, with atomic ``put``.

    A name has parts separated by "/", none of them empty, "." or "..". All methods raise
    ``HomeError``, which names the location without secrets, for a full disk, or a store that
    refuses or was unreachable for a minute.
    """

    @property
    def place(self) -> str:
        """Location for messages: a folder, or the address of a store."""
        ...

    @property
    def folder(self) -> Path | None:
        """Folder of the files, for programs that read files; None without one."""
        ...

    def named(self, name: str) -> str:
        """Location of a blob, for messages."""
        ...

    def put(self, name: str, data: bytes) -> None:
        """Write a blob that survives a power cut, replacing an existing one."""
        ...

    def put_new(self, name: str, data: bytes) -> bool:
        """Write a blob unless it exists; of concurrent calls, one returns True."""
        ...

    def get(self, name: str) -> bytes | None:
        """Read a blob; None if there is none."""
        ...

    def exists(self, name: str) -> bool:
        """Whether a blob exists."""
        ...

    def list(self, under: str = "") -> Iterator[BlobEntry]:
        """Blobs below the folder ``under``, sorted by name; all by default."""
        ...

    def folders(self, under: str = "") -> Sequence[str]:
        """Sorted name parts below ``under`` that have further parts below them."""
        ...

    def delete(self, name: str) -> bool:
        """Delete a blob; False if it did not exist."""
        ...


def safe_name(name: str) -> str:
    """Return a name unchanged if it stays inside the store.

    Raises:
        HomeError: If it could leave the store, for example by "..".
    """
    has_bad_character = "\\" in name or "\0" in name
    if has_bad_character or any(part in ("", ".", "..") for part in name.split("/")):
        raise HomeError(
            f"{name!r}: not a valid name (expected parts separated by '/', without '..')"
        )
    return name
