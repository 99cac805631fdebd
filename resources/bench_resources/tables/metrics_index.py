"""Metrics of all models in the shared database, so that a leaderboard fetches no object.

The tables are authoritative: a row counts only if it has the version of its table in the object
store. Missing and outdated tables are fetched and indexed again.
"""

import json
import logging
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache, partial

import pyarrow as pa
import sqlalchemy as sa

from bench_assets.core.schema.errors import HomeError
from bench_assets.core.schema.rows import Metric
from bench_assets.core.tables.arrow import arrow_schema
from bench_assets.features import hook_of
from bench_resources.config.environment import read_secret
from bench_resources.storage.database import Database
from bench_resources.storage.schema import column_in, metric_rows, metric_tables, upsert
from bench_resources.tables.fetching import FetchedTable, fetch_tables

_LOG = logging.getLogger("bench_assets.tables")
_PAGE = 200  # tables of one transaction
_COLUMNS = arrow_schema(Metric)


def open_metrics_index(variable: str) -> "MetricsIndex":
    """Open the index in the database at the address in an environment variable, once per process.

    Raises:
        SettingsError: If its address cannot be used.
        HomeError: If the database cannot be used.
    """
    return _open_index(read_secret(variable), variable, os.getpid())


@cache
def _open_index(address: str, variable: str, _process: int) -> "MetricsIndex":
    return MetricsIndex(hook_of("database", "[storage] database")(address, variable))


class MetricsIndex:
    """Rows of metrics by the folder of their tables, in a database that homes share."""

    def __init__(self, database: Database) -> None:
        """Create the tables, or check their schema.

        Raises:
            HomeError: If the database cannot be used, or was written by another version.
        """
        self._database = database
        database.prepare("metrics")

    def rows(
        self,
        below: str,
        versions: Mapping[str, str],
        fetch: Callable[[str], FetchedTable],
        where: Mapping[str, str],
    ) -> dict[str, FetchedTable]:
        """Rows of a folder's tables; those that are not indexed are fetched.

        Args:
            below: Prefix of the tables.
            versions: Present versions by partition.
            fetch: Fetches the whole table of a partition, verified.
            where: Wanted values of ``metric`` and ``category``, if any; filters indexed rows only.

        Returns:
            Fetched tables by partition, and all indexed rows under "".
        """
        known = self._database.read(partial(_versions, below))
        fetched = fetch_tables(
            (version for version in versions if known.get(version) != versions[version]), fetch
        )
        self._index(below, {name: (versions[name], rows) for name, rows in fetched.items()})
        if deleted := known.keys() - versions.keys():
            self.forget(below, deleted)
        unchanged = versions.keys() - fetched.keys()
        indexed = self._database.read(partial(_rows, below, where)) if unchanged else []
        try:
            parsed = [json.loads(row) for partition, row in indexed if partition in unchanged]
        except (ValueError, RecursionError):  # a damaged row: the tables are fetched instead
            self.forget(below, unchanged)
            return self.rows(below, versions, fetch, where)
        table = pa.Table.from_pylist(parsed, _COLUMNS)
        return {"": table, **fetched} if unchanged else fetched

    def put(self, below: str, partition: str, version: str, rows: pa.Table) -> None:
        """Index a table that was just written; otherwise the next reader does."""
        self._index(below, {partition: (version, rows)})

    def forget(self, below: str, partitions: Collection[str]) -> None:
        """Delete the rows of tables that are gone."""

        def work(connection: sa.Connection) -> None:
            for table in (metric_rows, metric_tables):
                of = column_in(connection, table.c.partition, sorted(partitions))
                connection.execute(sa.delete(table).where(table.c.place == below, of))

        self._database.write(work)

    def _index(self, below: str, tables: Mapping[str, tuple[str, FetchedTable]]) -> None:
        """Replace the rows of tables; a table without one of the present columns is not indexed."""
        new = [
            (partition, version, rows)
            for partition, (version, rows) in sorted(tables.items())
            if isinstance(rows, pa.Table) and rows.schema == _COLUMNS
        ]
        try:
            for start in range(0, len(new), _PAGE):
                self._database.write(partial(_replace, below, new[start : start + _PAGE]))
        except HomeError as error:  # a read-only database
            _LOG.warning("%s", error)


def _versions(below: str, connection: sa.Connection) -> dict[str, str]:
    of = sa.select(metric_tables.c.partition, metric_tables.c.version)
    rows_found = connection.execute(of.where(metric_tables.c.place == below))
    return {partition: version for partition, version in rows_found}


def _rows(below: str, where: Mapping[str, str], connection: sa.Connection) -> list[tuple[str, str]]:
    wanted = (metric_rows.c[name] == value for name, value in where.items())
    of = sa.select(metric_rows.c.partition, metric_rows.c.row)
    order = metric_rows.c.partition, metric_rows.c.number
    rows_found = connection.execute(
        of.where(metric_rows.c.place == below, *wanted).order_by(*order)
    )
    return [(partition, row) for partition, row in rows_found]


def _replace(
    below: str, tables: list[tuple[str, str, pa.Table]], connection: sa.Connection
) -> None:
    names = [partition for partition, *_ in tables]
    old = metric_rows.c.place == below, column_in(connection, metric_rows.c.partition, names)
    connection.execute(sa.delete(metric_rows).where(*old))
    heads = [{"place": below, "partition": table, "version": v} for table, v, _ in tables]
    upsert(connection, metric_tables, heads, "DO UPDATE SET version = excluded.version")
    rows = [row for partition, _, table in tables for row in _index_rows(below, partition, table)]
    upsert(connection, metric_rows, rows, "DO UPDATE SET row = excluded.row")


def _index_rows(below: str, partition: str, table: pa.Table) -> Iterator[dict[str, object]]:
    for number, row in enumerate(table.to_pylist()):
        cells = {"metric": row["metric"], "category": row["category"], "row": json.dumps(row)}
        yield {"place": below, "partition": partition, "number": number, **cells}
