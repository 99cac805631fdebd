"""Bundle archive: a deterministic zip file.

Files are not compressed, because the output would depend on the library, and never extracted.
Archives must equal the output of ``pack`` byte by byte; others are refused.
"""

import struct
import zipfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import IO, NamedTuple, Self

from bench_assets.core.schema.errors import SourceError, TableError
from bench_resources.storage.atomic_write import open_atomic

MAX_FILES = 60_000
MAX_BYTES = 2**32 - 2**20  # of the archive; a larger one would need the zip64 format

_FIXED_DATE = (1980, 1, 1, 0, 0, 0)
_UNIX, _MODE = 3, 0o100644 << 16
_END = struct.Struct("<4s4H2LH")  # the record that a zip without a comment ends with
_DIRECTORY = struct.Struct("<4s2B5H3L5H2L")  # an entry of the directory, without its name
_DIRECTORY_ENTRY_SIZE = _DIRECTORY.size
_VERSION, _DOS_DATE = 20, 33  # of the format; 1 January 1980
_MAX_NAME_LENGTH = 200
_READ_ERRORS = (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error, EOFError)


class ArchiveFile(NamedTuple):
    """A file to be packed."""

    name: str
    read: Callable[[], bytes]


def pack(pieces: Iterable[ArchiveFile], target: Path) -> None:
    """Pack files sorted by name: the same content gives the same bytes.

    Raises:
        TableError: If the bundle would be too large.
        HomeError: If the file cannot be written.
    """
    ordered = sorted(pieces, key=lambda piece: piece.name)
    if len(ordered) > MAX_FILES:
        raise TableError(f"{target}: {len(ordered)} files (expected at most {MAX_FILES})")
    with open_atomic(target) as file, zipfile.ZipFile(file, "w") as archive:
        for name, read in ordered:
            data = read()
            if file.tell() + len(data) > MAX_BYTES:
                raise TableError(f"{target}: more than {MAX_BYTES} bytes; use --no-images")
            archive.writestr(_entry(name), data)


class Archive:
    """The files of a bundle, read one at a time; none is extracted."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        """Read the directory, and refuse it unless ``pack`` would have written it.

        Raises:
            SourceError: Names the file and the invalid entry.
        """
        self.path = path
        self._file = file
        n_bytes = _require_end(path, file)
        try:
            self._zip = zipfile.ZipFile(file)
            self.sizes: Mapping[str, int] = _sizes(path, file, self._zip.infolist(), n_bytes)
        except _READ_ERRORS as error:
            raise SourceError(f"{path}: not a bundle, or damaged: {error!s:.200}") from error

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a file.

        Raises:
            SourceError: If it cannot be read, or is not a bundle.
        """
        try:
            file = path.open("rb")
        except OSError as error:
            raise SourceError(f"{path}: cannot be read: {error.strerror}") from error
        with ExitStack() as if_refused:
            if_refused.callback(file.close)
            archive = cls(path, file)
            if_refused.pop_all()
        return archive

    def __enter__(self) -> Self:
        """Enter the context."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.close()

    def read(self, name: str, most: int) -> bytes:
        """Read a file of at most ``most`` bytes.

        Raises:
            SourceError: If it is missing, larger, or damaged.
        """
        if name not in self.sizes:
            raise SourceError(f"{self.path}: no {name} in it")
        if self.sizes[name] > most:
            raise SourceError(
                f"{self.path}, {name}: {self.sizes[name]} bytes, more than the {most} allowed"
            )
        try:
            return self._zip.read(name)
        except (*_READ_ERRORS, OSError) as error:
            raise SourceError(f"{self.path}, {name}: damaged: {error!s:.200}") from error

    def require(self, name: str, digest: str, most: int) -> bytes:
        """Read a file, and verify its digest.

        Raises:
            SourceError: If the digest differs.
        """
        data = self.read(name, most)
        if sha256(data).hexdigest() != digest:
            raise SourceError(f"{self.path}, {name}: checksum mismatch: the file was changed")
        return data


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _FIXED_DATE)
    entry.create_system, entry.external_attr = _UNIX, _MODE
    return entry


def _require_end(path: Path, file: IO[bytes]) -> int:
    """Validate the end of the file first; returns the size of the packed part.

    Raises:
        SourceError: If it is not a zip archive, truncated, has too many files, or trailing data.
    """
    size = file.seek(0, 2)
    if (
        size > MAX_BYTES + MAX_FILES * (_DIRECTORY_ENTRY_SIZE + _MAX_NAME_LENGTH)
        or size < _END.size
    ):
        raise SourceError(f"{path}: {size} bytes: not a bundle, or damaged")
    file.seek(size - _END.size)
    mark, disk, first, n_disk_files, n_files, n_bytes, start, comment = _END.unpack(
        file.read(_END.size)
    )
    if mark != b"PK\5\6":
        raise SourceError(f"{path}: not a bundle, or cut short, or data was added at its end")
    if (disk, first, comment) != (0, 0, 0) or n_disk_files != n_files or n_files > MAX_FILES:
        raise SourceError(f"{path}: not a bundle, or damaged: {n_files} files in its directory")
    if start + n_bytes + _END.size != size or n_bytes > n_files * (
        _DIRECTORY_ENTRY_SIZE + _MAX_NAME_LENGTH
    ):
        raise SourceError(f"{path}: damaged, or data was added to it")
    return int(start)


def _sizes(
    path: Path, file: IO[bytes], found: list[zipfile.ZipInfo], n_bytes: int
) -> dict[str, int]:
    """Sizes of the files, which must be contiguous.

    Raises:
        SourceError: If a file is compressed, a link, a duplicate, out of order, or damaged.
    """
    sizes: dict[str, int] = {}
    at = 0
    for size in found:
        where, last = f"{path}, {size.orig_filename!r:.100}", next(reversed(sizes), "")
        if size.filename in sizes:
            raise SourceError(f"{where}: duplicate entry")
        if size.compress_type != zipfile.ZIP_STORED or size.compress_size != size.file_size:
            raise SourceError(f"{where}: compressed (expected an uncompressed entry)")
        if size.external_attr != _MODE:
            raise SourceError(f"{where}: a link, a folder or another special file")
        header = _header(size)
        file.seek(at)
        in_order = size.header_offset == at and size.filename > last
        if not in_order or file.read(len(header)) != header:
            raise SourceError(f"{where}: not written by bench bundle pack")
        sizes[size.filename] = size.file_size
        at += len(header) + size.file_size
    if at != n_bytes:
        raise SourceError(f"{path}: {n_bytes - at} bytes of it belong to no file")
    file.seek(n_bytes)
    if file.read()[: -_END.size] != b"".join(map(_directory_entry, found)):
        raise SourceError(f"{path}: its directory was not written by bench bundle pack")
    return sizes


def _header(one: zipfile.ZipInfo) -> bytes:
    """Local header of a file with this name, size and checksum."""
    expected = _entry(one.filename)
    expected.CRC, expected.file_size, expected.compress_size = one.CRC, one.file_size, one.file_size
    return expected.FileHeader()


def _directory_entry(one: zipfile.ZipInfo) -> bytes:
    """Directory entry of a file with this name, size, checksum and offset."""
    name, offset = one.filename.encode(), one.header_offset
    facts = (one.CRC, one.file_size, one.file_size, len(name), 0, 0, 0, 0, _MODE, offset)
    return _DIRECTORY.pack(b"PK\1\2", _VERSION, _UNIX, _VERSION, 0, 0, 0, _DOS_DATE, *facts) + name
