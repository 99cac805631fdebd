"""Checksums of table files: a digest of all bytes, stored in the file itself.

The checksum is a text of fixed length in Parquet's footer, computed with zeros in its place.
Parquet's own checksums cover pages only: a flipped bit in a header or the footer changes rows or
raises obscure errors. Other readers of Parquet ignore the checksum.
"""

import os
from collections.abc import Iterable
from hashlib import sha256
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from bench_assets.core.schema.errors import TableError

_METADATA_KEY = "bench_checksum"
_ZERO_DIGEST = b"0" * sha256().digest_size * 2
# The name and the length of its value, as Thrift encodes them.
_DIGEST_MARKER = _METADATA_KEY.encode() + b"\x18" + bytes([len(_ZERO_DIGEST)])
_MAGIC = b"PAR1"
_CHUNK = 1 << 20  # bytes


def write_groups(tables: Iterable[pa.Table], columns: pa.Schema, file: IO[bytes]) -> None:
    """Write tables as row groups of one Parquet file, with its checksum.

    Args:
        tables: The row groups.
        columns: The schema, with the file's metadata.
        file: An empty file, open for reading and writing.
    """
    with pq.ParquetWriter(file, columns, write_page_checksum=True) as writer:
        for table in tables:
            writer.write_table(table)
        writer.add_key_value_metadata({_METADATA_KEY: _ZERO_DIGEST.decode()})
    place = _digest_offset(file)
    digest = _digest(file, place)
    file.seek(place)
    file.write(digest)
    file.flush()


def verify_checksum(file: IO[bytes]) -> str:
    """Compare a file with its checksum, which is returned.

    Raises:
        TableError: If the file is damaged.
    """
    place = _digest_offset(file)
    file.seek(place)
    checksum = file.read(len(_ZERO_DIGEST))
    if checksum != _digest(file, place):
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
    """Offset of the checksum in the file.

    Raises:
        TableError: If this is not a Parquet file, or has no checksum.
    """
    size = file.seek(0, os.SEEK_END)
    end = len(_MAGIC) + 4  # the footer is followed by its length and the magic bytes
    file.seek(max(0, size - end))
    length, magic = file.read(4), file.read()
    start = size - end - int.from_bytes(length, "little")
    if magic != _MAGIC or start < len(_MAGIC):
        raise TableError(f"truncated, or not Parquet: {size} bytes without the footer of Parquet")
    file.seek(start)
    footer = file.read(size - end - start)
    found = footer.rfind(_DIGEST_MARKER)
    if found < 0:
        raise TableError("damaged: it has no checksum")
    return start + found + len(_DIGEST_MARKER)


def _digest(file: IO[bytes], place: int) -> bytes:
    """Digest all bytes of a file as hexadecimal text, with zeros in place of the checksum."""
    state = sha256()
    file.seek(0)
    before = place
    while chunk := file.read(min(_CHUNK, before) if before else _CHUNK):
        state.update(chunk)
        if before and not (before := before - len(chunk)):
            state.update(_ZERO_DIGEST)
            file.seek(len(_ZERO_DIGEST), os.SEEK_CUR)
    return state.hexdigest().encode()
