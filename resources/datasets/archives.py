"""Unpacks archives: only plain files, only below the folder, only as much as is allowed."""

import lzma
import shutil
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from bench_assets.core.schema.errors import SourceError

SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_MOST = 64 * 1024**3  # bytes, unpacked
_SYMLINK = 0o120000
_DAMAGED = (
    *(EOFError, RuntimeError, ValueError, OverflowError, OSError, LookupError, MemoryError),
    *(struct.error, zlib.error, zipfile.BadZipFile, tarfile.TarError, lzma.LZMAError),
)


def is_archive(name: str) -> bool:
    """Whether a file is unpacked, by its name."""
    return name.lower().endswith(SUFFIXES)


def unpack(archive: Path) -> None:
    """Unpack an archive where it lies; a folder that holds all of it is left out.

    Raises:
        SourceError: If it is damaged, reaches out of the folder, is larger than allowed, or holds
            a file that is there already.
    """
    unfinished = archive.with_name(f".{archive.name}.unpacking")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    try:
        if archive.name.lower().endswith(".zip"):
            _unzip(archive, unfinished)
        else:
            _untar(archive, unfinished)
    except _DAMAGED as why:
        raise SourceError(f"{archive}: cannot be unpacked: {why}") from why
    (*only,) = unfinished.iterdir()
    whole = only[0] if len(only) == 1 and only[0].is_dir() else unfinished
    for entry in whole.iterdir():
        there = archive.with_name(entry.name)
        if there.is_dir():
            shutil.rmtree(there)  # of an unpacking that was killed
        entry.replace(there)
    shutil.rmtree(unfinished)


def _unzip(archive: Path, folder: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        members = opened.infolist()
        _bounded(archive, sum(member.file_size for member in members))
        for member in members:
            if not member.filename:
                raise SourceError(f"{archive}: a file without a name")
            path = PurePosixPath(member.filename)
            linked = (member.external_attr >> 16) & 0o170000 == _SYMLINK
            if path.is_absolute() or ".." in path.parts or linked:
                raise SourceError(f"{archive}: {member.filename!r} is outside the folder")
        opened.extractall(folder)


def _untar(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as opened:
        members = opened.getmembers()
        _bounded(archive, sum(member.size for member in members))
        opened.extractall(folder, filter="data")


def _bounded(archive: Path, size: int) -> None:
    allowed = min(_MOST, shutil.disk_usage(archive.parent).free)
    if size > allowed:
        raise SourceError(f"{archive}: {size} bytes unpacked, more than the {allowed} allowed")
