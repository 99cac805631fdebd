"""Expectations: as asset checks, and the validation of all tables.

The job that builds a suite's questions validates their table with Great Expectations, once a build.
Its import takes seconds, so that commands leave this check out. Its own Data Docs are not used:
they load scripts and styles from other servers.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import dagster as dg

from bench_assets.asset_factory.check_results import check_result
from bench_assets.asset_factory.evaluation_tables import evaluation_key, questions_key
from bench_assets.catalog import Catalog
from bench_assets.core.schema.errors import BenchError, SettingsError, TableError
from bench_assets.core.schema.rows import Metric, Prediction, Question, SourceFile
from bench_assets.core.tables.expectations import (
    EXPECTATIONS_BY_TABLE,
    Expectation,
    blocking_failures,
    expected_columns,
    read_expectations,
)
from bench_assets.core.text.escaping import escape_markdown
from bench_assets.defs.checks.shared_ops import TableCheck
from bench_resources.tables.asset_types import row_type_of
from bench_resources.tables.parquet import TableFiles

CHECK_NAME = "as_expected"
"""Name of the check of blocking expectations."""

_DESCRIPTION = "All blocking expectations hold. If not, tables downstream are not updated."


def source_checks(definitions: Sequence[Any]) -> list[dg.AssetChecksDefinition]:
    """Build a check for each suite that has a table of its source's files."""
    return [
        _source_check(key)
        for definition in definitions
        if isinstance(definition, dg.AssetsDefinition)
        for key in definition.keys
        if key.path[1:] == ["source"] and row_type_of(definition, key) is SourceFile
    ]


def _source_check(key: dg.AssetKey) -> dg.AssetChecksDefinition:
    @dg.asset_check(asset=key, name=CHECK_NAME, blocking=True, description=_DESCRIPTION)
    def source_as_expected(source: list[SourceFile]) -> dg.AssetCheckResult:
        return check_expectations(key.path, source)

    return source_as_expected


def expectation_check(key: Sequence[str]) -> TableCheck:
    """Build the check of the blocking expectations of a question table."""

    def check(questions: list[Question]) -> dg.AssetCheckResult:
        return check_expectations(key, questions)

    return TableCheck(name=CHECK_NAME, description=_DESCRIPTION, run=check, blocking=True)


def check_expectations(key: Sequence[str], rows: Sequence[Any]) -> dg.AssetCheckResult:
    """Validate the blocking expectations of a table; the last part of its key names its kind."""
    table = key[-1]
    n_blocking = sum(expectation.blocking for expectation in EXPECTATIONS_BY_TABLE[table])
    holds = f"{n_blocking} of {n_blocking} blocking expectations hold."
    return check_result(blocking_failures(rows, table), n=len(rows), holds=holds)


_MAX_SHOWN = 5  # unexpected values that are shown
_MAX_VALUE_LENGTH = 120  # characters of a value that is shown


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationRow:
    """Result of an expectation of a table."""

    table: str  # "codis/predictions", for all models together
    rows: int
    expectation: str  # "expect_column_values_to_be_unique"
    about: str  # the columns, or "the table"
    told: str  # its other arguments: "min_value 0"
    blocking: bool
    passed: bool
    n_unexpected: int
    unexpected: tuple[str, ...]  # the first few values


def validation_check(task: str, file: Path | None) -> TableCheck:
    """Build the check of all expectations of a task's questions with Great Expectations.

    ``file`` has the suite's own expectations, if there are any.
    """
    return TableCheck(
        name="expectations",
        description="All expectations of questions hold, by Great Expectations. "
        "Commands leave it out.",
        run=partial(validate_questions, task, file),
    )


def validate_questions(
    task: str, file: Path | None, questions: Sequence[Question]
) -> dg.AssetCheckResult:
    """Validate all expectations of a task's questions; warns only."""
    try:
        further = read_expectations(file, task)
        results = shared_validation().validate("questions", questions, task, further)
    except BenchError as error:
        warn = dg.AssetCheckSeverity.WARN
        return dg.AssetCheckResult(passed=False, severity=warn, description=str(error))
    failed = [result for result in results if not result.passed]
    summary = f"{len(results) - len(failed)} of {len(results)} expectations hold"
    failures = ", ".join(f"{result.expectation} of {result.about}" for result in failed)
    lines = ["| expectation | column | holds | unexpected |", "|---|---|---|---|"]
    lines += [
        f"| {result.expectation} | {result.about} | {'yes' if result.passed else 'NO'}"
        f" | {escape_markdown(', '.join(result.unexpected))} |"
        for result in results
    ]
    return dg.AssetCheckResult(
        passed=not failed,
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{summary}; not: {failures}." if failed else f"{summary}.",
        metadata={"expectations": dg.MetadataValue.md("\n".join(lines))},
    )


@cache
def shared_validation() -> "ExpectationValidator":
    """The validator of this process, reused because creating one is as slow as a validation."""
    return ExpectationValidator()


class ExpectationValidator:
    """An ephemeral context of Great Expectations, for any number of tables."""

    def __init__(self) -> None:
        """Import Great Expectations."""
        import great_expectations as gx

        self._gx = gx
        self._context = gx.get_context(mode="ephemeral")
        self._context.variables.progress_bars = {"globally": False}
        self._source = self._context.data_sources.add_pandas("memory")
        self._batches = {
            kind: self._source.add_dataframe_asset(kind).add_batch_definition_whole_dataframe("all")
            for kind in EXPECTATIONS_BY_TABLE
        }

    def validate(
        self, kind: str, rows: Sequence[Any], table: str = "", further: Sequence[Expectation] = ()
    ) -> list[ValidationRow]:
        """Validate the expectations of a kind of table and further ones, in this order.

        Raises:
            SettingsError: If Great Expectations refuses an expectation.
        """
        import pandas as pd

        expected = [*EXPECTATIONS_BY_TABLE[kind], *further]
        try:
            columns = expected_columns(rows, expected)
            expectations = [
                self._gx_expectation(expectation, index)
                for index, expectation in enumerate(expected)
            ]
        except (AttributeError, TypeError, ValueError) as error:
            raise SettingsError(f"{table}: expectations of its suite: {error}") from error
        batch = self._batches[kind].get_batch({"dataframe": pd.DataFrame(columns)})
        suite = self._gx.ExpectationSuite(name=f"{kind} {table}", expectations=expectations)
        result = batch.validate(suite)
        # Great Expectations returns the results in another order.
        results = {check.expectation_config.meta["index"]: check for check in result.results}
        return [
            _validation_row(expectation, results[index], table, len(rows))
            for index, expectation in enumerate(expected)
        ]

    def _gx_expectation(self, expectation: Expectation, index: int) -> Any:  # noqa: ANN401
        """The expectation of Great Expectations; results return its index."""
        name = "".join(part.capitalize() for part in expectation.type.split("_"))
        expectation_type = getattr(self._gx.expectations, name)
        return expectation_type(**expectation.arguments, meta={"index": index})


def _validation_row(
    expectation: Expectation,
    result: Any,  # noqa: ANN401
    table: str,
    n_rows: int,
) -> ValidationRow:
    unexpected = result.result.get("partial_unexpected_list") or []
    count = result.result.get("unexpected_count")
    arguments = [
        f"{name} {value}"
        for name, value in expectation.arguments.items()
        if not name.startswith("column")
    ]
    return ValidationRow(
        table=table,
        rows=n_rows,
        expectation=expectation.type,
        about=", ".join(expectation.columns) or "the table",
        told="; ".join(arguments),
        blocking=expectation.blocking,
        passed=bool(result.success),
        n_unexpected=int(not result.success) if count is None else int(count),
        unexpected=tuple(str(value)[:_MAX_VALUE_LENGTH] for value in unexpected[:_MAX_SHOWN]),
    )


class _TableToValidate(NamedTuple):
    kind: str  # a key of ``core.tables.expectations.EXPECTATIONS_BY_TABLE``
    row_type: type[Any]
    key: tuple[str, ...]
    further: Sequence[Expectation] = ()


def validate_tables(
    catalog: Catalog, tables: TableFiles, warn: Callable[[str], object]
) -> list[ValidationRow]:
    """Validate sources, questions, predictions and metrics with Great Expectations.

    ``warn`` is called with the error of each unreadable table.
    """
    results: list[ValidationRow] = []
    for table in _tables_to_validate(catalog):
        if rows := _read_partitions(table, tables, warn):
            results += shared_validation().validate(
                table.kind, rows, "/".join(table.key), table.further
            )
    return results


def _tables_to_validate(catalog: Catalog) -> Iterator[_TableToValidate]:
    for suite in catalog.suites:
        yield _TableToValidate(kind="source", row_type=SourceFile, key=(suite.name, "source"))
        for task in suite.tasks:
            further = read_expectations(suite.expectations, task.name)
            # Conditions may share a question table.
            for key in dict.fromkeys(tuple(questions_key(task, name)) for name in task.conditions):
                yield _TableToValidate(
                    kind="questions", row_type=Question, key=key, further=further
                )
            for condition in task.conditions:
                for kind, row_type in (("predictions", Prediction), ("metrics", Metric)):
                    key = tuple(evaluation_key(task, condition, kind))
                    yield _TableToValidate(kind=kind, row_type=row_type, key=key)


def _read_partitions(
    table: _TableToValidate, tables: TableFiles, warn: Callable[[str], object]
) -> list[Any]:
    """Read the rows of all models; ``warn`` is called with the error of each unreadable one."""
    partitions = tables.partitions(table.key) or ([""] if tables.exists(table.key) else [])
    rows: list[Any] = []
    for partition in partitions:
        try:
            rows += tables.read(table.key, table.row_type, partition)
        except TableError as error:
            warn(str(error))
    return rows
