"""Expectations as asset checks, and their results in the report.

Great Expectations is imported on demand, since that takes seconds. Its own Data Docs are not used:
they load scripts and styles from other servers.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple, get_args

import dagster as dg

from bench_assets.asset_factory.check_results import check_result
from bench_assets.asset_factory.evaluation_tables import evaluation_key, questions_key
from bench_assets.catalog import Catalog
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.rows import Metric, Prediction, Question, SourceFile
from bench_assets.core.tables.expectations import (
    EXPECTATIONS_BY_TABLE,
    Expectation,
    ValidationRow,
    columns_of,
    problems,
    validate_table,
)
from bench_assets.core.text.escaping import escape_markdown
from bench_assets.defs.checks.shared_ops import TableCheck
from bench_assets.defs.report_links import link_expectations
from bench_resources.tables.parquet import TableFiles, table_output

CHECK_NAME = "as_expected"
"""Name of the check."""

_DESCRIPTION = "All blocking expectations hold. If not, tables downstream are not updated."


def source_checks(left: Sequence[Any]) -> list[dg.AssetChecksDefinition]:
    """Build a check for each suite that has a table of its source's files."""
    return [
        _source_check(key)
        for definition in left
        if isinstance(definition, dg.AssetsDefinition)
        for key in definition.keys
        if key.path[1:] == ["source"] and _row_type(definition, key) is SourceFile
    ]


def _row_type(assets: dg.AssetsDefinition, key: dg.AssetKey) -> object:
    output = assets.get_output_name_for_asset_key(key)
    rows = get_args(assets.op.output_dict[output].dagster_type.typing_type)
    return rows[0] if rows else None


def _source_check(key: dg.AssetKey) -> dg.AssetChecksDefinition:
    @dg.asset_check(asset=key, name=CHECK_NAME, blocking=True, description=_DESCRIPTION)
    def source_as_expected(source: list[SourceFile]) -> dg.AssetCheckResult:
        return check_expectations(key.path, source)

    return source_as_expected


def expectation_check(run: Callable[..., dg.AssetCheckResult]) -> TableCheck:
    """The check of a table's expectations; ``run`` calls ``check_expectations``."""
    return TableCheck(CHECK_NAME, _DESCRIPTION, run, blocking=True)


def check_expectations(key: Sequence[str], rows: Sequence[Any]) -> dg.AssetCheckResult:
    """Validate a table's expectations, by the last part of its key; blocking."""
    blocking = [
        expectation for expectation in EXPECTATIONS_BY_TABLE[key[-1]] if expectation.blocking
    ]
    holds = f"{len(blocking)} of {len(blocking)} blocking expectations hold."
    result = check_result(problems(rows, blocking), n=len(rows), holds=holds)
    return link_expectations(result, key)


_MAX_SHOWN = 5  # unexpected values shown
_MAX_VALUE_LENGTH = 120  # characters of one


def validate_questions(key: Sequence[str], questions: Sequence[Question]) -> dg.AssetCheckResult:
    """Validate all expectations of a question table; warns only."""
    results = validate_table("questions", questions)
    failed = [result for result in results if not result.passed]
    summary = f"{len(results) - len(failed)} of {len(results)} expectations hold"
    failures = ", ".join(f"{result.expectation} of {result.about}" for result in failed)
    lines = ["| expectation | column | holds | unexpected |", "|---|---|---|---|"]
    lines += [
        f"| {result.expectation} | {result.about} | {'yes' if result.passed else 'NO'}"
        f" | {escape_markdown(', '.join(result.unexpected))} |"
        for result in results
    ]
    result = dg.AssetCheckResult(
        passed=not failed,
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{summary}; not: {failures}." if failed else f"{summary}.",
        metadata={"expectations": dg.MetadataValue.md("\n".join(lines))},
    )
    return link_expectations(result, key)


@cache
def shared_validation() -> "ExpectationValidator":
    """The context of this process, reused because creating one is as slow as a validation."""
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

    def validate(self, kind: str, rows: Sequence[Any], table: str = "") -> list[ValidationRow]:
        """Validate a table's expectations, in the order of ``EXPECTED``."""
        import pandas as pd

        expected = EXPECTATIONS_BY_TABLE[kind]
        batch = self._batches[kind].get_batch(
            {"dataframe": pd.DataFrame(columns_of(rows, expected))}
        )
        suite = self._gx.ExpectationSuite(
            name=f"{kind} {table}", expectations=[self._expectation(e) for e in expected]
        )
        result = batch.validate(suite)
        # Great Expectations returns the results in another order.
        results = {
            _key(
                validation.expectation_config.type, validation.expectation_config.kwargs
            ): validation
            for validation in result.results
        }
        return [
            _row(expectation, results[_key(expectation.type, expectation.told)], table, len(rows))
            for expectation in expected
        ]

    def _expectation(self, one: Expectation) -> Any:  # noqa: ANN401
        name = "".join(part.capitalize() for part in one.type.split("_"))
        return getattr(self._gx.expectations, name)(**one.told)


def _key(kind: str, arguments: Any) -> tuple[str, str]:  # noqa: ANN401
    columns = [arguments.get(name) for name in ("column", "column_A", "column_B", "column_list")]
    return kind, str(columns)


def _row(one: Expectation, result: Any, table: str, n: int) -> ValidationRow:  # noqa: ANN401
    unexpected = result.result.get("partial_unexpected_list") or []
    count = result.result.get("unexpected_count")
    arguments = [
        f"{name} {value}" for name, value in one.told.items() if not name.startswith("column")
    ]
    return ValidationRow(
        table=table,
        rows=n,
        expectation=one.type,
        about=", ".join(one.columns) or "the table",
        told="; ".join(arguments),
        blocking=one.blocking,
        passed=bool(result.success),
        n_unexpected=int(not result.success) if count is None else int(count),
        unexpected=tuple(str(value)[:_MAX_VALUE_LENGTH] for value in unexpected[:_MAX_SHOWN]),
    )


EXPECTATIONS = "expectations"
"""Name of the table."""


class _Kind(NamedTuple):
    name: str  # a key of ``core.tables.expectations.EXPECTATIONS_BY_TABLE``
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
        rows = validate_tables(catalog, tables, context.log.warning)
        failed = sum(not row.passed for row in rows)
        return table_output(rows, {"failed": failed})

    return expectations


def validate_tables(
    catalog: Catalog, tables: TableFiles, warn: Callable[[str], object]
) -> list[ValidationRow]:
    """Validate the expectations of every table; ``warn`` gets the reason of unreadable ones."""
    rows: list[ValidationRow] = []
    for kind in _kinds(catalog):
        for rows_read, reason in _read(kind, tables):
            if reason:
                warn(reason)
            else:
                rows += shared_validation().validate(kind.name, rows_read, "/".join(kind.key))
    return rows


def _kinds(catalog: Catalog) -> Iterator[_Kind]:
    for suite in catalog.suites:
        yield _Kind("source", SourceFile, (suite.name, "source"))
        for task in suite.tasks:
            question_keys = {
                tuple(questions_key(task, condition)): None for condition in task.conditions
            }
            yield from (_Kind("questions", Question, key) for key in question_keys)
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
        except TableError as error:
            yield [], str(error)
    if rows:
        yield rows, ""
