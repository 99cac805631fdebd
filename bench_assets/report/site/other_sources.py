"""Tables of a task that were built from other sources."""

from collections.abc import Iterator, Sequence

from bench_assets.asset_factory.evaluation_tables import questions_key
from bench_assets.core.schema.errors import TableError
from bench_assets.evaluation.task import Task
from bench_resources.tables.parquet import TableFiles

_UNNAMED = "none named"


def other_sources(task: Task, tables: TableFiles) -> Iterator[tuple[str, TableFiles]]:
    """Yield other sources with their tables, one for each distinct question table."""
    key = questions_key(task, "main")
    seen = {None, _digest(tables, key)}
    for other_tables in tables.elsewhere(task.suite):
        if (data := _digest(other_tables, key)) not in seen:
            seen.add(data)
            yield other_tables.root(task.suite).rpartition("/")[2] or _UNNAMED, other_tables


def _digest(tables: TableFiles, key: Sequence[str]) -> str | None:
    """Digest of a question table; None if unreadable."""
    try:
        return tables.digest(key)
    except TableError:
        return None
