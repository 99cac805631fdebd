"""Tables of a task that were built from other sources."""

from collections.abc import Iterator, Sequence

from bench_assets.asset_factory.evaluation_tables import questions_key
from bench_assets.core.schema.errors import TableError
from bench_assets.evaluation.task import Task
from bench_resources.tables.parquet import TableFiles

_UNNAMED = "none named"


def other_sources(task: Task, tables: TableFiles) -> Iterator[tuple[str, TableFiles]]:
    """Yield other sources with their tables, one for each readable distinct question table."""
    key = questions_key(task, "main")
    known_digests = {None, _digest(tables, key)}
    for other_tables in tables.elsewhere(task.suite):
        digest = _digest(other_tables, key)
        if digest not in known_digests:
            known_digests.add(digest)
            source = other_tables.root(task.suite).rpartition("/")[-1]
            yield source or _UNNAMED, other_tables


def _digest(tables: TableFiles, key: Sequence[str]) -> str | None:
    """Digest of a question table; None if unreadable."""
    try:
        return tables.digest(key)
    except TableError:
        return None
