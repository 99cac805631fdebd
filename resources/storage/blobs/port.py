"""The port to bytes under names: files of one folder, or objects of a store that homes share."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from bench_assets.core.schema.errors import HomeError


class BlobEntry(NamedTuple):
    """An entry of a listing."""

    name: str
    size: int  # bytes
    version: str
    """Another one whenever other bytes were put; the same bytes may have several."""
    at: float
    """When it was put, by the clock of the disk or the store: s since the epoch."""


class Blobs(Protocol):
    """Bytes under names; a reader sees the result of one ``put``, never half of it.

    A name is of parts with "/" between, none of them empty, "." or "..". All methods raise
    ``HomeError``, which names the place and tells no secret: a full disk, a store that refuses, or
    one that was away for a minute.
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
        """The place of one of them, for messages."""
        ...

    def put(self, name: str, data: bytes, *, sync: bool = True) -> None:
        """Write it, whatever was there.

        Args:
            name: Under which name.
            data: All of it.
            sync: Wait until a power cut does not lose it; without, it is quicker.
        """
        ...

    def put_new(self, name: str, data: bytes) -> bool:
        """Write it unless it exists; of concurrent calls, one returns True."""
        ...

    def get(self, name: str) -> bytes | None:
        """Read a blob; None if there is none."""
        ...

    def exists(self, name: str) -> bool:
        """Whether there is one."""
        ...

    def list(self, under: str = "") -> Iterator[BlobEntry]:
        """Blobs whose name begins with ``under``, in order of their names."""
        ...

    def folders(self, under: str = "") -> Sequence[str]:
        """The parts that follow ``under`` in names that go on behind them, sorted."""
        ...

    def delete(self, name: str) -> bool:
        """Delete it; whether there was one."""
        ...


def safe_name(name: str) -> str:
    """Return a name that stays inside the store.

    Raises:
        HomeError: If it could.
    """
    if "\\" in name or "\0" in name or any(one in ("", ".", "..") for one in name.split("/")):
        raise HomeError(f"{name!r} cannot be the name of anything in a home")
    return name
