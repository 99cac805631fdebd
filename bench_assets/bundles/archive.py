"""Bundle archive: a deterministic zip file.

Files are not compressed, because the output would depend on the library, and never extracted. Their
checksums are in the manifest, and an archive must equal the output of ``pack`` byte by byte.
"""

import struct
import tempfile
import zipfile
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from functools import partial
from hashlib import file_digest, sha256
from io import BufferedReader
from pathlib import Path
from typing import IO, NamedTuple, Self

from bench_assets.core.schema.errors import SourceError, TableError
from bench_resources.storage.atomic_write import open_atomic

MAX_FILES = 60_000  # files of an archive, at most
MAX_BYTES = 2**32 - 2**20  # bytes of an archive; a larger one would need the zip64 format

_FIXED_DATE = (1980, 1, 1, 0, 0, 0)
_UNIX = 3  # code of the system that made a zip entry
_MODE = 0o100644 << 16  # permissions of a zip entry: a file with rw-r--r--
_READ_ERRORS = (
    zipfile.BadZipFile,
    NotImplementedError,
    ValueError,
    struct.error,
    EOFError,
    RuntimeError,  # encrypted
)


class ArchiveFile(NamedTuple):
    """A file to be packed."""

    name: str
    read: Callable[[], bytes]


def pack(files: Iterable[ArchiveFile], target: Path) -> None:
    """Pack files sorted by name: the same content gives the same bytes.

    Raises:
        TableError: If the bundle would be too large.
        HomeError: If the file cannot be written.
    """
    ordered = sorted(files, key=lambda file: file.name)
    if len(ordered) > MAX_FILES:
        raise TableError(f"{target}: {len(ordered)} files (expected at most {MAX_FILES})")
    with open_atomic(target) as stream:
        _write_zip(ordered, stream, target)


class Archive:
    """The files of a bundle, read one at a time; none is extracted."""

    def __init__(self, path: Path, file: BufferedReader) -> None:
        """Read the directory.

        Raises:
            SourceError: If it is no zip archive, or has an entry that ``pack`` does not write.
        """
        self.path = path
        self._file = file
        self.sizes: dict[str, int] = {}
        try:
            self._zip = zipfile.ZipFile(file)
        except _READ_ERRORS as error:
            raise SourceError(f"{path}: not a bundle, or cut short: {error!s:.200}") from error
        for entry in self._zip.infolist():
            where = f"{path}, {entry.filename!r:.100}"
            if entry.filename in self.sizes:
                raise SourceError(f"{where}: duplicate entry")
            if entry.compress_type != zipfile.ZIP_STORED or entry.compress_size != entry.file_size:
                raise SourceError(f"{where}: compressed (expected an uncompressed entry)")
            self.sizes[entry.filename] = entry.file_size

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Generator[Self]:
        """Open a file for the block.

        Raises:
            SourceError: If it cannot be read, or is not a bundle.
        """
        try:
            file = path.open("rb")
        except OSError as error:
            raise SourceError(f"{path}: cannot be read: {error.strerror}") from error
        with file:
            yield cls(path, file)

    def read(self, name: str, max_bytes: int) -> bytes:
        """Read a file of at most ``max_bytes`` bytes.

        Raises:
            SourceError: If it is missing, larger, or damaged.
        """
        if name not in self.sizes:
            raise SourceError(f"{self.path}: no {name} in it")
        if self.sizes[name] > max_bytes:
            raise SourceError(
                f"{self.path}, {name}: {self.sizes[name]} bytes, more than the {max_bytes} allowed"
            )
        try:
            return self._zip.read(name)
        except (*_READ_ERRORS, OSError) as error:
            raise SourceError(f"{self.path}, {name}: damaged: {error!s:.200}") from error

    def require(self, name: str, digest: str, max_bytes: int) -> bytes:
        """Read a file, and verify its digest.

        Raises:
            SourceError: If the digest differs; otherwise as ``read``.
        """
        data = self.read(name, max_bytes)
        if sha256(data).hexdigest() != digest:
            raise SourceError(f"{self.path}, {name}: checksum mismatch: the file was changed")
        return data

    def require_packed(self) -> None:
        """Require that each byte is the one that ``pack`` writes for these files.

        Raises:
            SourceError: If the zip's own records, such as a name or a time, were changed.
        """
        files = [ArchiveFile(name, partial(self._zip.read, name)) for name in self.sizes]
        with tempfile.TemporaryFile() as packed:
            _write_zip(files, packed, self.path)
            packed.seek(0)
            self._file.seek(0)
            if file_digest(packed, "sha256").digest() != file_digest(self._file, "sha256").digest():
                raise SourceError(f"{self.path}: not as bench bundle pack wrote it: it was changed")


def _write_zip(files: Iterable[ArchiveFile], stream: IO[bytes], path: Path) -> None:
    with zipfile.ZipFile(stream, "w") as archive:
        for name, read in files:
            data = read()
            if stream.tell() + len(data) > MAX_BYTES:
                raise TableError(f"{path}: more than {MAX_BYTES} bytes; use --no-images")
            entry = zipfile.ZipInfo(name, _FIXED_DATE)
            entry.create_system, entry.external_attr = _UNIX, _MODE
            archive.writestr(entry, data)
