"""Unpacks archives of releases."""

import lzma
import re
import shutil
import struct
import tarfile
import zipfile
import zlib
from filecmp import cmp
from pathlib import Path

from bench_assets.core.schema.errors import SourceError

SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_OF_MACOS = re.compile(r"__MACOSX/|(.*/)?(\.DS_Store|\._[^/]*)$")  # attributes, which it adds
_DAMAGED = (
    *(EOFError, RuntimeError, ValueError, OverflowError, OSError, LookupError, MemoryError),
    *(struct.error, zlib.error, zipfile.BadZipFile, tarfile.TarError, lzma.LZMAError),
)


def is_archive(name: str) -> bool:
    """Whether a file is an archive, by its name."""
    return name.lower().endswith(SUFFIXES)


def unpack(archive: Path) -> None:
    """Unpack an archive beside itself, without its top folder if that contains everything.

    Raises:
        SourceError: If it is damaged, or has another file than the one that is there.
    """
    unfinished = archive.with_name(f".{archive.name}.unpacking")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    try:
        if archive.name.lower().endswith(".zip"):
            _unzip(archive, unfinished)
        else:
            _untar(archive, unfinished)
    except _DAMAGED as error:
        shutil.rmtree(unfinished)
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


def _unzip(archive: Path, folder: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        members = [member for member in opened.infolist() if not _OF_MACOS.match(member.filename)]
        for member in members:
            member.filename = member.filename.replace("\\", "/")  # of older programs for Windows
        opened.extractall(folder, members)


def _untar(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as opened:
        members = (member for member in opened if not _OF_MACOS.match(member.name))
        opened.extractall(folder, members, filter="data")
