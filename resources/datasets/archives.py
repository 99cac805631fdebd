"""Unpacks archives: plain files below the folder, each once, and no more than is allowed."""

import lzma
import shutil
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from bench_assets.core.schema.errors import SourceError

SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
MOST_BYTES = 64 * 10**9  # unpacked
_SYMLINK = 0o120000
_DAMAGED = (
    *(EOFError, RuntimeError, ValueError, OverflowError, OSError, LookupError, MemoryError),
    *(struct.error, zlib.error, zipfile.BadZipFile, tarfile.TarError, lzma.LZMAError),
)


def is_archive(name: str) -> bool:
    """Whether a file is unpacked, by its name."""
    return name.lower().endswith(SUFFIXES)


def unpack(archive: Path, most: int = MOST_BYTES) -> None:
    """Unpack an archive where it lies; a folder that holds all of it is left out.

    Args:
        archive: The file.
        most: Bytes that all its files may have together.

    Raises:
        SourceError: If it is damaged, reaches out of the folder, is larger than allowed, or holds
            two entries of one name.
    """
    unfinished = archive.with_name(f".{archive.name}.unpacking")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    room = _Room(archive, min(most, shutil.disk_usage(archive.parent).free))
    try:
        if archive.name.lower().endswith(".zip"):
            _unzip(archive, unfinished, room)
        else:
            _untar(archive, unfinished, room)
    except (*_DAMAGED, SourceError) as why:
        shutil.rmtree(unfinished)
        if isinstance(why, SourceError):
            raise
        raise SourceError(f"{archive}: cannot be unpacked: {why}") from why
    (*only,) = unfinished.iterdir()
    whole = only[0] if len(only) == 1 and only[0].is_dir() else unfinished
    for entry in whole.iterdir():
        there = archive.with_name(entry.name)
        if there.is_dir():
            shutil.rmtree(there)  # of an unpacking that was killed
        entry.replace(there)
    shutil.rmtree(unfinished)


class _Room:
    """What may still be unpacked: names that are free, bytes that are left."""

    def __init__(self, archive: Path, most: int) -> None:
        self._archive, self._most = archive, most
        self._size = 0
        self._files: set[PurePosixPath] = set()

    def take(self, name: str, size: int, *, is_folder: bool) -> None:
        """Take the place of an entry.

        Raises:
            SourceError: If it leads outside, its name is taken, or there is no room.
        """
        path = PurePosixPath(name.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or "\0" in name:
            raise SourceError(f"{self._archive}: {name!r:.200} is outside the folder")
        if path in self._files or (not path.parts and not is_folder):
            raise SourceError(f"{self._archive}: {name!r:.200}: duplicate entry, or without a name")
        if taken := next((one for one in path.parents if one in self._files), None):
            raise SourceError(f"{self._archive}: {name!r:.200}: {taken} is a file in it")
        if not is_folder:
            self._files.add(path)
        self._size += size
        if self._size > self._most:
            raise SourceError(
                f"{self._archive}: unpacked, more than the {self._most} bytes allowed, which are"
                " [storage] unpacked_gigabytes of bench.toml, or what the disk has free"
            )


def _unzip(archive: Path, folder: Path, room: _Room) -> None:
    with zipfile.ZipFile(archive) as opened:
        for member in opened.infolist():
            if (member.external_attr >> 16) & 0o170000 == _SYMLINK:
                raise SourceError(f"{archive}: {member.filename!r:.200} is a link, and no file")
            room.take(member.filename, member.file_size, is_folder=member.is_dir())
        opened.extractall(folder)


def _untar(archive: Path, folder: Path, room: _Room) -> None:
    """Unpack entry by entry: all sizes are known only at the end of what is compressed."""
    with tarfile.open(archive) as opened:
        opened.extractall(folder, _members(opened, room), filter="data")


def _members(opened: tarfile.TarFile, room: _Room) -> Iterator[tarfile.TarInfo]:
    for member in opened:
        room.take(member.name, member.size, is_folder=member.isdir())
        yield member
