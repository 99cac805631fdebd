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
_MACOS_FILE = re.compile(r"__MACOSX/|(.*/)?(\.DS_Store|\._[^/]*)$")  # attributes that macOS adds
_UNPACKING_ERRORS = (
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
    except _UNPACKING_ERRORS as error:
        shutil.rmtree(unfinished)
        raise SourceError(f"{archive}: cannot be unpacked: {error}") from error
    contents = list(unfinished.iterdir())
    top_folder = contents[0] if len(contents) == 1 and contents[0].is_dir() else unfinished
    _merge(top_folder, archive.parent, archive)
    shutil.rmtree(unfinished)


def _merge(folder: Path, into: Path, archive: Path) -> None:
    """Move files into a folder, where a killed process or another archive may have left some."""
    for path in sorted(folder.iterdir()):
        target = into / path.name
        if not target.exists():
            path.replace(target)
        elif path.is_dir() and target.is_dir():
            _merge(path, target, archive)
        elif not (path.is_file() and target.is_file() and cmp(path, target, shallow=False)):
            raise SourceError(
                f"{archive}: {target} exists with other content. Unpack the archives by hand, and"
                " name the folder in [sources]"
            )


def _unzip(archive: Path, folder: Path) -> None:
    with zipfile.ZipFile(archive) as zip_file:
        members = [
            member for member in zip_file.infolist() if not _MACOS_FILE.match(member.filename)
        ]
        for member in members:
            member.filename = member.filename.replace("\\", "/")  # as older Windows programs write
        zip_file.extractall(folder, members)


def _untar(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as tar_file:
        members = (member for member in tar_file if not _MACOS_FILE.match(member.name))
        tar_file.extractall(folder, members, filter="data")
