"""Validation results of Great Expectations for all tables, shown in the report.

Its own Data Docs load scripts and styles from other servers and run inline scripts. The report
opens from disk and allows neither, so it shows the results itself.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import dagster as dg

from bench_assets.asset_factory.evaluation_assets import evaluation_key, questions_key
from bench_assets.catalog import Catalog
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.rows import Metric, Prediction, Question, SourceFile
from bench_assets.core.tables.expectations import ValidationRow
from bench_assets.defs.checks.expectations import validation
from resources.tables.parquet import TableFiles, table_output

EXPECTATIONS = "expectations"
"""Name of the table."""


class _Kind(NamedTuple):
    name: str  # a key of ``core.tables.expectations.EXPECTED``
    row_type: type[Any]
    key: tuple[str, ...]


def expectations_asset(catalog: Catalog) -> dg.AssetsDefinition:
    """Build the asset that validates the expectations of every table."""

    @dg.asset(
        name=EXPECTATIONS,
        deps=[evaluation_key(task, "main", "metrics") for task in catalog.tasks],
        group_name=EXPECTATIONS,
        kinds={"python"},
        tags={"bench/stage": EXPECTATIONS, "bench/when": "asked"},
        description=(
            "One row: the result of one expectation of one table over all models, by Great "
            "Expectations. The report shows them."
        ),
    )
    def expectations(
        context: dg.AssetExecutionContext, tables: TableFiles
    ) -> dg.Output[list[ValidationRow]]:
        rows: list[ValidationRow] = []
        for kind in _kinds(catalog):
            for found, why in _read(kind, tables):
                if why:
                    context.log.warning(why)
                else:
                    rows += validation().validated(kind.name, found, "/".join(kind.key))
        failed = sum(not row.passed for row in rows)
        return table_output(rows, {"failed": failed})

    return expectations


def _kinds(catalog: Catalog) -> Iterator[_Kind]:
    for suite in catalog.suites:
        yield _Kind("source", SourceFile, (suite.name, "source"))
        for task in suite.tasks:
            asked = {tuple(questions_key(task, one)): None for one in task.conditions}
            yield from (_Kind("questions", Question, key) for key in asked)
            for condition in task.conditions:
                for name, row_type in (("predictions", Prediction), ("metrics", Metric)):
                    yield _Kind(name, row_type, tuple(evaluation_key(task, condition, name)))


def _read(kind: _Kind, tables: TableFiles) -> Iterator[tuple[list[Any], str]]:
    """Read the rows of all models, or why some are unreadable; nothing without a table."""
    parts = tables.partitions(kind.key) or ([""] if tables.exists(kind.key) else [])
    rows: list[Any] = []
    for part in parts:
        try:
            rows += tables.read(kind.key, kind.row_type, part)
        except TableError as why:
            yield [], str(why)
    if rows:
        yield rows, ""
