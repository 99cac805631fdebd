"""Snapshot of many models' metrics in one object, so that a leaderboard fetches few objects.

The snapshot is a cache of the tables: an entry is used only if the store still has the same version
of its table; other tables are fetched and added. It may be lost or damaged at any time.
"""

import io
import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from bench_assets.core.schema.errors import HomeError, TableError
from bench_assets.core.schema.rows import Metric
from bench_assets.core.tables.arrow import schema
from resources.storage.blobs.port import Blobs
from resources.tables.checksums import verify_checksum, write_checksummed

_LOG = logging.getLogger("bench_assets.tables")

SNAPSHOT_FOLDER = ".gathered"
"""Below it lies what is gathered, under the names of the folders of tables."""

PARALLEL_FETCHES = 32  # objects that are being fetched
_FEWEST = 16  # tables that are worth it
_LARGEST = 1 << 20  # bytes of a table's rows
_ABOUT = b"bench_gathered"
_UNREADABLE = (TableError, pa.ArrowException, OSError, KeyError, TypeError)

FetchedTable: TypeAlias = pa.Table | str
"""The rows of a table, or why there are none."""


class _SnapshotPart(NamedTuple):
    """One table in the snapshot."""

    version: str
    rows: pa.Table


def _fetch_all(
    partitions: Iterable[str], fetch: Callable[[str], FetchedTable]
) -> dict[str, FetchedTable]:
    """Fetch tables concurrently."""
    wanted = list(partitions)
    with ThreadPoolExecutor(PARALLEL_FETCHES) as threads:
        return dict(zip(wanted, threads.map(fetch, wanted), strict=True))


def fetch_metrics(
    blobs: Blobs,
    below: str,
    versions: Mapping[str, str],
    row_type: type[Any],
    fetch: Callable[[str], FetchedTable],
) -> dict[str, FetchedTable]:
    """Fetch the tables of an asset, from the snapshot if it is up to date.

    Args:
        blobs: Store of the tables.
        below: Prefix of the asset's tables.
        versions: Present versions by partition.
        row_type: Type of their rows.
        fetch: Fetches the table of a partition, verified.
    """
    if row_type is not Metric or len(versions) < _FEWEST:
        return _fetch_all(versions, fetch)
    name, columns = f"{SNAPSHOT_FOLDER}/{below}", schema(row_type)
    before = _read(blobs, name, columns)
    known = {one: part for one, part in before.items() if versions.get(one) == part.version}
    fetched = _fetch_all(versions.keys() - known.keys(), fetch)
    new = {
        one: _SnapshotPart(versions[one], rows)
        for one, rows in fetched.items()
        # One that is older than a column would come back with nothing in it, not without it.
        if isinstance(rows, pa.Table) and rows.schema == columns and rows.nbytes < _LARGEST
    }
    if new or len(known) < len(before):
        _keep(blobs, name, columns, known | new)
    return {one: known[one].rows if one in known else fetched[one] for one in versions}


def _read(blobs: Blobs, name: str, columns: pa.Schema) -> dict[str, _SnapshotPart]:
    """The stored snapshot; none if damaged or with other columns."""
    data = blobs.get(name)
    if data is None:
        return {}
    try:
        verify_checksum(io.BytesIO(data))
        with pq.ParquetFile(pa.BufferReader(data)) as file:
            about = json.loads(file.schema_arrow.metadata[_ABOUT])
            rows = file.read().replace_schema_metadata()
    except (*_UNREADABLE, ValueError, RecursionError) as why:
        _LOG.warning("%s: cannot be read (%s); gathered again", blobs.named(name), why)
        return {}
    if about["columns"] != _named(columns) or rows.schema != columns:
        return {}
    parts, start = {}, 0
    for partition, version, n in about["parts"]:
        parts[partition] = _SnapshotPart(version, rows.slice(start, n))
        start += n
    return parts


def _keep(blobs: Blobs, name: str, columns: pa.Schema, parts: Mapping[str, _SnapshotPart]) -> None:
    """Store the snapshot; a read-only home goes without."""
    ordered: Sequence[tuple[str, _SnapshotPart]] = sorted(parts.items())
    about = {
        "columns": _named(columns),
        "parts": [(one, part.version, part.rows.num_rows) for one, part in ordered],
    }
    rows = pa.concat_tables([columns.empty_table(), *(part.rows for _, part in ordered)])
    whole = io.BytesIO()
    write_checksummed(rows.replace_schema_metadata({_ABOUT: json.dumps(about)}), whole)
    try:
        blobs.put(name, whole.getvalue(), sync=False)
    except HomeError as why:
        _LOG.warning("%s", why)


def _named(columns: pa.Schema) -> str:
    return sha256(str(columns).encode()).hexdigest()
