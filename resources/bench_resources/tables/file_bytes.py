"""Bytes and footers of table files, verified against their checksums.

The checksum, a digest of all bytes, is a text of fixed length in Parquet's footer, computed with
zeros in its place. Parquet's own checksums cover pages only: a flipped bit in a header or the
footer changes rows or raises obscure errors. Other readers of Parquet ignore the checksum.
"""

import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from shlex import quote
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from bench_assets.core.schema.errors import HomeError, TableError
from bench_resources.tables.locations import TableLocations, file_name

DIGEST = b"bench_digest"
WRITTEN = b"bench_written"  # s since the epoch
TABLE_NAME_KEY = b"bench_table"
"""Name of the table: an intact file under the name of another table is detected by it."""

SOURCE_STATE = b"bench_source"
"""In a ``source`` table and the questions made of it: the state of the source at their build."""

PER_MODEL = ("predictions", "judgements", "scores", "metrics")
"""Last names of the tables of an evaluation, one for each model."""

_REBUILD_ADVICE = "materialize it again; `bench home verify` names the command"
_PARSE_ERRORS = (pa.ArrowException, OSError, ValueError, TypeError, KeyError)
"""Errors of Arrow for bytes that are not a table."""

_METADATA_KEY = "bench_checksum"
_ZERO_DIGEST = b"0" * sha256().digest_size * 2
# The name and the length of its value, as Thrift encodes them.
_DIGEST_MARKER = _METADATA_KEY.encode() + b"\x18" + bytes([len(_ZERO_DIGEST)])
_MAGIC = b"PAR1"
_CHUNK = 1 << 20  # bytes that are read at once


class TableBytes(TableLocations):
    """Opens tables, and identifies their versions."""

    def digest(self, key: Sequence[str], partition: str = "") -> str | None:
        """Digest of a table's content, without parsing it; None if it was never written.

        Raises:
            TableError: If the table is damaged.
        """
        if not self.exists(key, partition):
            return None
        with self.open_verified(key, partition) as file:
            return str((file.schema_arrow.metadata or {})[DIGEST].decode())

    def source_state(self, key: Sequence[str]) -> bytes | None:
        """State of the source that a table was made of; None without a table or a state."""
        try:
            with self._open_file(key, "") as file:
                return (pq.read_metadata(file).metadata or {}).get(SOURCE_STATE)
        except TableError:
            return None

    def verify(self, key: Sequence[str], partition: str = "") -> str:
        """Verify a table against the checksum in its file, and return the checksum.

        Raises:
            TableError: If it is damaged, belongs to another table, or cannot be read.
        """
        with self._open_file(key, partition) as file:
            checksum = verify_checksum(file)
            require_table_name(pq.read_metadata(file).metadata, table_name(key, partition))
            return checksum

    def states(self, key: Sequence[str]) -> dict[str, str]:
        """Recorded checksum, or else version, of each table of an asset, by partition."""
        try:
            by_partition = self.versions(key)
        except TableError as error:  # an unreadable folder is a state too: it may become readable
            return {"": str(error)}
        if self.blobs.folder is not None:
            for partition, version in by_partition.items():
                with suppress(OSError), self.path(key, partition).open("rb") as file:
                    by_partition[partition] = recorded_checksum(file) or version
        return by_partition

    @contextmanager
    def _open_file(self, key: Sequence[str], partition: str) -> Iterator[IO[bytes]]:
        """Open the bytes of a table; a file is not read into memory as a whole."""
        with describe_table_errors(self.place(key, partition)):
            if self.blobs.folder is None:
                yield io.BytesIO(self._read_bytes(key, partition))
            else:
                with self.path(key, partition).open("rb") as file:
                    yield file

    def written(self, key: Sequence[str], partition: str = "") -> float:
        """Time of writing in s since the epoch, as stored in the file; 0 if unreadable."""
        try:
            with self._open_file(key, partition) as file:
                return float((pq.read_metadata(file).metadata or {})[WRITTEN])
        except (TableError, KeyError, ValueError):
            return 0.0

    @contextmanager
    def opened(self, key: Sequence[str], partition: str = "") -> Iterator[pq.ParquetFile]:
        """Open a table to read parts of it; a file is verified, but not kept in memory.

        Raises:
            TableError: If it was never written, is damaged, or belongs to another table.
        """
        if self.blobs.folder is None:
            with self.open_verified(key, partition) as file:
                yield file
            return
        if not self.exists(key, partition):
            raise self.missing_table_error(key, partition)
        self.verify(key, partition)
        path = self.path(key, partition)
        with (
            describe_table_errors(str(path)),
            pq.ParquetFile(path, page_checksum_verification=True) as file,
        ):
            yield file

    def _read_bytes(self, key: Sequence[str], partition: str) -> bytes:
        try:
            data = self.blobs.get(self.name(key, partition))
        except HomeError as error:
            if self.blobs.folder is None:  # the store is unreachable: no table can be read
                raise
            raise TableError(str(error)) from error
        if data is None:
            raise self.missing_table_error(key, partition)
        return data

    def missing_table_error(self, key: Sequence[str], partition: str) -> TableError:
        """Build the error for a table that was never written, with the command that makes it."""
        name = "/".join(key) + (f" of {partition}" if partition else "")
        message = f"{name}: no table yet ({self.place(key, partition)})"
        for source_tables in self.elsewhere(key[0]):
            if source_tables.exists(key, partition):
                table = source_tables.below(key)
                message += f"; {table} is of another source, name it with --source"
                break
        # A task has questions of its own: "codis/plain" is a condition, "cogbench/vqa" a task.
        is_condition = len(key) > 2 and self.exists([*key[:-2], "questions"])
        return TableError(f"{message}. {_command(key, partition, is_condition=is_condition)}")

    @contextmanager
    def open_verified(self, key: Sequence[str], partition: str) -> Iterator[pq.ParquetFile]:
        """Open a table to read all of it: it is verified and read from the same bytes.

        Raises:
            TableError: If it was never written, is damaged, or belongs to another table.
        """
        data = self._read_bytes(key, partition)
        with describe_table_errors(self.place(key, partition)):
            verify_checksum(io.BytesIO(data))
            # Not read_table: it imports pyarrow.dataset, which takes 15 MB and 0.1 s.
            with pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True) as file:
                require_table_name(file.schema_arrow.metadata, table_name(key, partition))
                yield file


def table_name(key: Sequence[str], partition: str = "") -> str:
    """Name stored in a table's file, without its source, because a home may be moved."""
    return "/".join((*key, file_name(partition)))


def require_table_name(metadata: Mapping[bytes, bytes] | None, expected: str) -> None:
    """Check that the metadata of a file have the expected table's name.

    Raises:
        TableError: If it belongs to another table.
    """
    name = (metadata or {}).get(TABLE_NAME_KEY, b"").decode(errors="replace")
    if name != expected:
        raise TableError(
            f"expected the table {expected}, got {name or 'a file of another program'}"
        )


@contextmanager
def describe_table_errors(location: str) -> Iterator[None]:
    """Report a damaged table with its location and a remedy."""
    try:
        yield
    except TableError as error:
        if _REBUILD_ADVICE in str(error):
            raise
        raise TableError(f"{location}: {error}; {_REBUILD_ADVICE}") from error
    except PermissionError as error:
        raise TableError(f"{location}: cannot be read: {error.strerror}") from error
    except _PARSE_ERRORS as error:
        raise TableError(
            f"{location}: cannot be read as a table ({error}); {_REBUILD_ADVICE}"
        ) from error


def _command(key: Sequence[str], partition: str, *, is_condition: bool) -> str:
    """Sentence on the command that makes a table."""
    if partition or key[-1] in PER_MODEL:
        model = quote(partition) if partition else "MODEL"
        if is_condition:
            task, condition = "/".join(key[:-2]), key[-2]
            return f"`bench evaluate {task} --model {model} --condition {condition}` makes it"
        return f"`bench evaluate {key[0]} --model {model}` makes it"
    if "annotation" in key:
        return "`bench annotate ask` makes it"
    return (
        f"`bench tables questions {key[0]}` makes those of questions, `bench tables paper` has the"
        " commands of the others"
    )


def write_groups(tables: Iterable[pa.Table], schema: pa.Schema, file: IO[bytes]) -> None:
    """Write tables as the row groups of one Parquet file, empty so far, with its checksum."""
    with pq.ParquetWriter(file, schema, write_page_checksum=True) as writer:
        for table in tables:
            writer.write_table(table)
        writer.add_key_value_metadata({_METADATA_KEY: _ZERO_DIGEST.decode()})
    offset = _digest_offset(file)
    digest = _digest(file, offset)
    file.seek(offset)
    file.write(digest)
    file.flush()


def verify_checksum(file: IO[bytes]) -> str:
    """Compare a file with its checksum, and return the checksum.

    Raises:
        TableError: If the file is damaged.
    """
    offset = _digest_offset(file)
    file.seek(offset)
    checksum = file.read(len(_ZERO_DIGEST))
    if checksum != _digest(file, offset):
        raise TableError("damaged: its bytes do not match its checksum")
    return checksum.decode()


def recorded_checksum(file: IO[bytes]) -> str:
    """Read a file's checksum without verifying it; "" if there is none."""
    try:
        file.seek(_digest_offset(file))
    except TableError:
        return ""
    return file.read(len(_ZERO_DIGEST)).decode(errors="replace")


def _digest_offset(file: IO[bytes]) -> int:
    """Offset of the checksum in the file; raises ``TableError`` without one."""
    size = file.seek(0, os.SEEK_END)
    trailer_size = 4 + len(_MAGIC)  # the length of the footer, and the magic bytes
    file.seek(max(0, size - trailer_size))
    footer_length, magic = int.from_bytes(file.read(4), "little"), file.read()
    start = size - trailer_size - footer_length
    if magic != _MAGIC or start < len(_MAGIC):
        raise TableError(f"truncated, or not Parquet: {size} bytes without the footer of Parquet")
    file.seek(start)
    footer = file.read(footer_length)
    marker_start = footer.rfind(_DIGEST_MARKER)
    if marker_start < 0:
        raise TableError("damaged: it has no checksum")
    return start + marker_start + len(_DIGEST_MARKER)


def _digest(file: IO[bytes], checksum_offset: int) -> bytes:
    """Digest all bytes of a file as hexadecimal text, with zeros in place of the checksum."""
    state = sha256()
    file.seek(0)
    remaining = checksum_offset
    while remaining and (chunk := file.read(min(_CHUNK, remaining))):
        state.update(chunk)
        remaining -= len(chunk)
    state.update(_ZERO_DIGEST)
    file.seek(len(_ZERO_DIGEST), os.SEEK_CUR)
    while chunk := file.read(_CHUNK):
        state.update(chunk)
    return state.hexdigest().encode()
