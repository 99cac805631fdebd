"""What the bytes of a table say of themselves, without its rows being read."""

import io
from typing import NamedTuple

import pyarrow.parquet as pq

from resources.home.table_bytes import DIGEST, WRITTEN, told


class Facts(NamedTuple):
    """What stands in the footer of a table."""

    digest: str  # of its rows; "" of one that is older than digests
    written: float  # s since the epoch; 0 of one that is older than that


def facts_of(data: bytes, place: str) -> Facts:
    """Read the footer of a table.

    Raises:
        TableError: If it is none; names the place.
    """
    with told(place):
        about = pq.read_metadata(io.BytesIO(data)).metadata or {}
        return Facts(about.get(DIGEST, b"").decode(), float(about.get(WRITTEN, 0)))
