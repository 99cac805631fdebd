"""Where images lie, under the digests of their bytes: the port, and a folder.

A place goes to other processes as it is: it is an address, and opened where it is read.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from shlex import quote
from stat import S_ISREG
from typing import Protocol

from bench_assets.core.schema.errors import ImageError
from resources.storage.atomic_write import written_aside

KIND = "images"
"""The folder of a home, and the part of what homes share, that images lie in."""

_DIGITS = frozenset("0123456789abcdef")


class ImagePlace(Protocol):
    """Where images lie; sent to other processes as it is."""

    def __hash__(self) -> int:
        """Equal places have equal ones."""
        ...

    @property
    def name(self) -> str:
        """The folder or address, for messages."""
        ...

    def where(self, digest: str) -> str:
        """Where an image lies, for people; it may not be there."""
        ...

    def goes(self, digest: str) -> str:
        """The command that deletes an image; "" where that is another program's."""
        ...

    def read(self, digest: str, *, afresh: bool = False) -> bytes:
        """Read the original bytes of an image; ``afresh`` of what was fetched before none.

        Raises:
            ImageError: If there is no such image, or other bytes are in its place.
            HomeError: If objects cannot be reached for a minute.
        """
        ...

    def keep(self, digest: str, data: bytes) -> None:
        """Have bytes lie under their digest, whatever lay there.

        Raises:
            HomeError: If they cannot be written.
        """
        ...

    def sizes(self, digests: Iterable[str]) -> dict[str, int]:
        """Bytes of each of these images that is there; none of them is read."""
        ...

    def every(self) -> Iterator[str]:
        """Digests of all images that are there."""
        ...

    def bring(self, digests: Iterable[str]) -> None:
        """Have images near that will be read soon; those that are not there are left out."""
        ...


@dataclass(frozen=True, slots=True)
class ImageFolder:
    """A folder."""

    folder: str

    @property
    def name(self) -> str:
        """The folder."""
        return self.folder

    def where(self, digest: str) -> str:
        """The path of its file."""
        return str(self.file(digest))

    def goes(self, digest: str) -> str:
        """Of its file."""
        return f"rm {quote(self.where(digest))}"

    def file(self, digest: str) -> Path:
        """The path of its file."""
        return Path(self.folder, digest[:2], digest)

    def read(self, digest: str, *, afresh: bool = False) -> bytes:
        """Read its file."""
        try:
            data = self.file(digest).read_bytes()
        except (FileNotFoundError, ValueError) as why:  # ValueError: a name that no file can have
            raise ImageError(f"no image {digest} in {self.folder}") from why
        except OSError as why:
            said = f"image {digest} in {self.folder} cannot be read: {why.strerror}"
            raise ImageError(said) from why
        return as_stored(data, digest, self.folder)

    def keep(self, digest: str, data: bytes) -> None:
        """Write its file, unless it lies there whole."""
        file = self.file(digest)
        if not _holds(file, data):
            with written_aside(file, sync=False) as written:
                written.write(data)

    def sizes(self, digests: Iterable[str]) -> dict[str, int]:
        """Look at each file."""
        found: dict[str, int] = {}
        for digest in digests:
            with suppress(OSError, ValueError):  # ValueError: a name that no file can have
                about = self.file(digest).stat()
                found |= {digest: about.st_size} if S_ISREG(about.st_mode) else {}
        return found

    def every(self) -> Iterator[str]:
        """All files that have such a name."""
        found = (file.name for file in Path(self.folder).glob("??/*"))
        return (name for name in found if is_digest(name))

    def bring(self, digests: Iterable[str]) -> None:
        """They are here."""


def is_digest(name: str) -> bool:
    """Whether an image may have that name."""
    return len(name) == 64 and set(name) <= _DIGITS


def as_stored(data: bytes, digest: str, place: str) -> bytes:
    """Give bytes back that have this digest.

    Raises:
        ImageError: If they have another.
    """
    if sha256(data).hexdigest() != digest:
        raise ImageError(
            f"image {digest} in {place} is not the one that was stored: damaged or replaced;"
            " `bench verify` names the command that brings it back"
        )
    return data


def _holds(file: Path, data: bytes) -> bool:
    """Whether an image lies there already, whole."""
    try:
        return file.stat().st_size == len(data) and file.read_bytes() == data
    except OSError:
        return False
