"""What ``#/claims`` shows: sentences of the papers, tried on their numbers and on those here."""

from dataclasses import asdict
from math import isnan
from typing import Any

from bench_assets.catalog import Catalog
from bench_assets.core.schema.claims import ClaimResult
from bench_assets.core.schema.errors import TableError
from bench_assets.core.text.escaping import one_line
from bench_assets.report.site.folder import Site
from resources.tables.parquet import TableFiles


class ClaimPages:
    """One part of the report: ``claims``."""

    def write(self, site: Site, tables: TableFiles, catalog: Catalog) -> None:
        """Write what came of every claim; suites without such a table are named."""
        site.put("claims", [_suite(tables, name) for name in catalog.names])


def _suite(tables: TableFiles, suite: str) -> dict[str, Any]:
    key = [suite, "claims"]
    about: dict[str, Any] = {"suite": suite, "problem": "", "rows": None}
    if not tables.exists(key):
        return about
    try:
        rows = tables.read(key, ClaimResult)
    except TableError as why:
        return {**about, "problem": one_line(str(why))}
    return {**about, "rows": [_row(row) for row in rows]}


def _row(row: ClaimResult) -> dict[str, Any]:
    numbers = ("value", "low", "high")
    return {
        name: None if name in numbers and isnan(value) else value
        for name, value in asdict(row).items()
    }
