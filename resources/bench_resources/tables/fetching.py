"""Concurrent fetching of tables from an object store."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import pyarrow as pa

_MAX_CONCURRENT = 32  # objects that are fetched at once

FetchedTable: TypeAlias = pa.Table | str
"""The rows of a table, or the reason why it cannot be read."""


def fetch_tables(
    partitions: Iterable[str], fetch: Callable[[str], FetchedTable]
) -> dict[str, FetchedTable]:
    """Fetch tables concurrently, by partition."""
    names = sorted(partitions)
    with ThreadPoolExecutor(_MAX_CONCURRENT) as threads:
        return dict(zip(names, threads.map(fetch, names), strict=True))
