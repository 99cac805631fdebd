"""Tables of a store that are fetched concurrently."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import pyarrow as pa

_AT_ONCE = 32  # objects that are being fetched

FetchedTable: TypeAlias = pa.Table | str
"""The rows of a table, or why there are none."""


def fetch_tables(
    partitions: Iterable[str], fetch: Callable[[str], FetchedTable]
) -> dict[str, FetchedTable]:
    """Fetch tables of a store concurrently."""
    wanted = sorted(partitions)
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        return dict(zip(wanted, threads.map(fetch, wanted), strict=True))
