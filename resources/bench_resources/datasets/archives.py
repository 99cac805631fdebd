"""Unpacks archives safely: only regular files below the folder, within a size limit."""

import lzma
import re
import shutil
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from filecmp import cmp
from pathlib import Path, PurePosixPath

from bench_assets.core.schema.errors import SourceError

SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
MOST_BYTES = 64 * 10**9  # unpacked
_SYMLINK = 0o120000
_OF_MACOS = re.compile(r"__MACOSX/|(.*/)?(\.DS_Store|\._[^/]*)$")  # attributes, which it adds
_DAMAGED = (
    *(EOFError, RuntimeError, ValueError, OverflowError, OSError, LookupError, MemoryError),
    *(struct.error, zlib.error, zipfile.BadZipFile, tarfile.TarError, lzma.LZMAError),
)


def is_archive(name: str) -> bool:
    """Whether a file is an archive, by its name."""
    return name.lower().endswith(SUFFIXES)


def unpack(archive: Path, most: int = MOST_BYTES) -> None:
    """Unpack an archive beside itself, without its top folder if that contains everything.

    Args:
        archive: The file.
        most: Limit of the unpacked size, in bytes.

    Raises:
        SourceError: If it is damaged or too large, or has an entry outside the folder, two entries
            of one name, or another file than the one that is there.
    """
    unfinished = archive.with_name(f".{archive.name}.unpacking")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    quota = _UnpackQuota(archive, min(most, shutil.disk_usage(archive.parent).free))
    try:
        if archive.name.lower().endswith(".zip"):
            _unzip(archive, unfinished, quota)
        else:
            _untar(archive, unfinished, quota)
    except (*_DAMAGED, SourceError) as error:
        shutil.rmtree(unfinished)
        if isinstance(error, SourceError):
            raise
        raise SourceError(f"{archive}: cannot be unpacked: {error}") from error
    (*only,) = unfinished.iterdir()
    top_folder = only[0] if len(only) == 1 and only[0].is_dir() else unfinished
    _merge(top_folder, archive.parent, archive)
    shutil.rmtree(unfinished)


def _merge(folder: Path, into: Path, archive: Path) -> None:
    """Move files into a folder that may have some of them: of a killed process, or an archive."""
    for entry in sorted(folder.iterdir()):
        target = into / entry.name
        if not target.exists():
            entry.replace(target)
        elif entry.is_dir() and target.is_dir():
            _merge(entry, target, archive)
        elif not (entry.is_file() and target.is_file() and cmp(entry, target, shallow=False)):
            raise SourceError(
                f"{archive}: {target} exists with other content. Unpack the archives by hand, and"
                " name the folder in [sources]"
            )


class _UnpackQuota:
    """Names and bytes that are still available while unpacking."""

    def __init__(self, archive: Path, most: int) -> None:
        self._archive, self._most = archive, most
        self._size = 0
        self._files: set[PurePosixPath] = set()

    def take(self, name: str, size: int, *, is_folder: bool) -> None:
        """Reserve name and size of an entry.

        Raises:
            SourceError: If it leads outside, its name is taken, or it exceeds the limit.
        """
        path = PurePosixPath(name.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or "\0" in name:
            raise SourceError(f"{self._archive}: {name!r:.200} is outside the folder")
        if path in self._files or (not path.parts and not is_folder):
            raise SourceError(f"{self._archive}: {name!r:.200}: duplicate entry, or without a name")
        if parent_file := next((parent for parent in path.parents if parent in self._files), None):
            raise SourceError(f"{self._archive}: {name!r:.200}: {parent_file} is a file in it")
        if not is_folder:
            self._files.add(path)
        self._size += size
        if self._size > self._most:
            raise SourceError(
                f"{self._archive}: more than the {self._most} bytes allowed when unpacked, by"
                " [storage] unpacked_gigabytes of bench.toml or the free space of the disk"
            )


def _unzip(archive: Path, folder: Path, room: _UnpackQuota) -> None:
    with zipfile.ZipFile(archive) as opened:
        members = [member for member in opened.infolist() if not _OF_MACOS.match(member.filename)]
        for member in members:
            member.filename = member.filename.replace("\\", "/")  # of older programs for Windows
            if (member.external_attr >> 16) & 0o170000 == _SYMLINK:
                raise SourceError(f"{archive}: {member.filename!r:.200} is a link, not a file")
            room.take(member.filename, member.file_size, is_folder=member.is_dir())
        opened.extractall(folder, members)


def _untar(archive: Path, folder: Path, room: _UnpackQuota) -> None:
    """Unpack entry by entry: the size of a compressed tar is known only at its end."""
    with tarfile.open(archive) as opened:
        opened.extractall(folder, _members(opened, room), filter="data")


def _members(opened: tarfile.TarFile, room: _UnpackQuota) -> Iterator[tarfile.TarInfo]:
    for member in opened:
        if _OF_MACOS.match(member.name):
            continue
        room.take(member.name, member.size, is_folder=member.isdir())
        yield member
