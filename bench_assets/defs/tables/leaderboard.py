"""The leaderboard: all models on all tasks, beside the published rows of the papers."""

import csv
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from datetime import timedelta
from functools import partial
from math import isnan, nan
from typing import TYPE_CHECKING

import dagster as dg

from bench_assets.asset_factory.evaluation_tables import (
    describe_questions,
    evaluation_key,
    questions_key,
)
from bench_assets.asset_factory.partial_results import partial_tables
from bench_assets.asset_factory.suite_assets import MODEL_SETUP, judge_key, scorer_key, source_key
from bench_assets.catalog import Catalog
from bench_assets.comparison.measurements import QUESTIONS_CHANGED
from bench_assets.comparison.people_checks import with_people
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.metric_text import (
    format_blind,
    format_caveats,
    format_interval,
    format_value,
    is_hidden,
)
from bench_assets.core.schema.published_numbers import PublishedNumber
from bench_assets.core.schema.rows import IMPORTED, READ_FIELDS, UNKNOWN, LeaderboardRow, Metric
from bench_assets.core.schema.signature import Signature, partial_part, short_digest
from bench_assets.core.stats.ranks import add_rank_intervals
from bench_assets.core.tables.arrow import to_json, to_rows
from bench_assets.core.text.escaping import escape_formula, escape_markdown
from bench_assets.defs.checks.staleness import CurrentConfiguration
from bench_assets.defs.observed_inputs import LEADERBOARD_INPUTS
from bench_assets.evaluation.task import Task
from bench_assets.report.site.other_sources import other_sources
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.models import baselines
from bench_resources.tables.parquet import Table, TableFiles, table_output

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


MEASURED = "measured here"
UNREADABLE = "unreadable"

_PRIMARY_METRICS = """
SELECT * FROM metrics
WHERE condition = 'main' AND category = $category AND task = $task AND metric = $metric
ORDER BY model
"""


def rank_task(
    task: Task,
    tables: TableFiles,
    published: Sequence[PublishedNumber],
    configured: CurrentConfiguration | None = None,
    *,
    with_partial: bool = False,
) -> list[LeaderboardRow]:
    """Rank the models of one task: first those measured here, then published numbers.

    Rows are grouped by edition, the present edition first. Among the measured ones, partial numbers
    follow whole ones; then stale ones, with the reason in ``stale``, and models with unreadable
    tables, with the reason and without a number. Results on other sources have a ``place``.

    Without ``configured``, numbers are stale only if the questions have changed. ``with_partial``
    adds models that were evaluated on a part of the questions only.
    """
    rows = [
        *_measured_rows(task, tables, configured),
        *_other_source_rows(task, tables, configured),
        *(_published_row(row) for row in published if _is_main_number(row, task)),
    ]
    if with_partial:
        measured = {row.model for row in rows if row.is_measured and not row.place}
        partial_rows, _ = _metric_rows(task, partial_tables(tables.home), configured=None)
        rows += [replace(row, stale="") for row in partial_rows if row.model not in measured]
    baseline_names = baselines(configured.models if configured else {})
    rows = [
        replace(
            row,
            is_baseline=row.is_measured and row.model in baseline_names,
            lower_is_better=task.is_lowest_best,
        )
        for row in rows
    ]
    editions = list(dict.fromkeys(row.edition for row in rows))
    return add_rank_intervals(
        sorted(rows, key=lambda row: (editions.index(row.edition), *_sort_key(row)))
    )


def _is_main_number(row: PublishedNumber, task: Task) -> bool:
    """Whether a number is a task's primary metric on all questions, under the main condition."""
    is_of_task = row.task == task.name and row.metric == task.primary_metric
    return is_of_task and row.category == "all" and row.condition == "main"


def _sort_key(row: LeaderboardRow) -> tuple[object, ...]:
    """Sort key within an edition: measured rows, then published ones by source."""
    is_published = not row.is_measured
    if is_published:
        return is_published, row.source, -row.merit
    is_unreadable = row.n_scored is None
    is_partial = bool(row.n_failed or partial_part(row.signature))
    doubts = is_unreadable, bool(row.stale), is_partial, isnan(row.value), is_hidden(row)
    return is_published, row.place, *doubts, 0.0 if isnan(row.value) else -row.merit, row.model


def rank_tasks(
    tasks: Sequence[Task],
    tables: TableFiles,
    published: Sequence[PublishedNumber],
    configured: CurrentConfiguration | None = None,
    *,
    with_partial: bool = False,
) -> list[LeaderboardRow]:
    """Rank the models of each task; with an object store, reading overlaps with ranking."""

    def rank(task: Task) -> list[LeaderboardRow]:
        return rank_task(task, tables, published, configured, with_partial=with_partial)

    if tables.blobs.folder is not None:
        return [row for task in tasks for row in rank(task)]
    with ThreadPoolExecutor(2) as threads:
        return [row for rows in threads.map(rank, tasks) for row in rows]


def _measured_rows(
    task: Task, tables: TableFiles, configured: CurrentConfiguration | None
) -> list[LeaderboardRow]:
    """Rows of a home's tables: those with a number, then those of unreadable tables."""
    rows, errors = _metric_rows(task, tables, configured)
    if not errors:
        return rows
    # Metrics have the edition of the present questions; without metrics, the questions are read.
    edition = rows[0].edition if rows else describe_questions(tables, task).edition or UNKNOWN
    return rows + [_unreadable_row(task, edition, model, error) for model, error in errors.items()]


def _other_source_rows(
    task: Task, tables: TableFiles, configured: CurrentConfiguration | None
) -> Iterator[LeaderboardRow]:
    """Metrics on other sources, except sources with the same questions."""
    for source, other_source in other_sources(task, tables):
        for row in _measured_rows(task, other_source, configured):
            yield replace(row, place=source)


def _metric_rows(
    task: Task, tables: TableFiles, configured: CurrentConfiguration | None
) -> tuple[list[LeaderboardRow], dict[str, str]]:
    """Rows of readable metrics, and the errors of unreadable ones by model."""
    key = evaluation_key(task, "main", "metrics")
    damaged: dict[Table, str] = {}
    try:
        questions_digest = tables.digest(evaluation_key(task, "main", "questions")) or ""
        parameters = {"task": task.name, "metric": task.primary_metric, "category": "all"}
        table = tables.query(_PRIMARY_METRICS, {"metrics": ([key], Metric)}, damaged, **parameters)
    except TableError as error:
        return [], dict.fromkeys(tables.known(key), str(error))
    metrics, row_errors = _readable_metrics(table)
    errors = {model: error for (_, model), error in damaged.items()} | row_errors
    rows = []
    for metric in with_people(tables, task, metrics):
        try:
            is_current = metric.questions == short_digest(questions_digest)
            stale = "" if is_current else QUESTIONS_CHANGED
            if configured:
                stale = configured.stale_reason(task, metric, tables)
            rows.append(_measured_row(task, metric, stale))
        except TableError as error:
            errors[metric.model] = str(error)
    return rows, errors


def _readable_metrics(table: "pa.Table") -> tuple[list[Metric], dict[str, str]]:
    """The readable rows of a table, and the errors of the others by model."""
    try:
        return to_rows(table, Metric), {}
    except TableError:
        pass  # the rows are read one by one
    metrics: list[Metric] = []
    errors: dict[str, str] = {}
    for index in range(table.num_rows):
        try:
            metrics += to_rows(table.slice(index, 1), Metric)
        except TableError as error:
            errors[str(table.column("model")[index])] = str(error)
    return metrics, errors


def _measured_row(task: Task, row: Metric, stale: str) -> LeaderboardRow:
    extensions = Signature.parse(row.signature).extensions
    shared = {name: getattr(row, name) for name in _SHARED_COLUMNS}
    own = {
        "task": "+".join((row.task, *extensions)),
        "source": f"{IMPORTED}{task.measured_by}" if task.measured_by else MEASURED,
        "low": None if isnan(row.low) else row.low,
        "high": None if isnan(row.high) else row.high,
        "served": row.served or "",
        "people": row.people or "",
    }
    return LeaderboardRow(**{**shared, **own}, stale=stale)


_SHARED_COLUMNS = {f.name for f in fields(LeaderboardRow)} & {f.name for f in fields(Metric)}


_make_value_row = partial(
    LeaderboardRow, low=None, high=None, n_scored=None, n_unscored=None, n_failed=None, signature=""
)


def _unreadable_row(task: Task, edition: str, model: str, error: str) -> LeaderboardRow:
    return _make_value_row(
        task="+".join((task.name, *task.extensions)),
        edition=edition,
        metric=task.primary_metric,
        model=model,
        source=f"{UNREADABLE}: {error}",
        value=nan,
    )


def _published_row(row: PublishedNumber) -> LeaderboardRow:
    return _make_value_row(
        task=row.task,
        edition="published",
        metric=row.metric,
        model=row.model,
        source=row.source,
        value=row.value,
    )


_NUMBERS = ("value", "low", "high", "constant", "shuffled", *READ_FIELDS)
_COUNTS = ("scored", "unscored", "failed", "no_answer", "refused", "rejected", "expired")


FRESHNESS = dg.FreshnessPolicy.time_window(
    fail_window=timedelta(days=30), warn_window=timedelta(days=7)
)
"""Age at which the leaderboard and the report are marked as old. They are updated after each new
number, so that old ones show that nothing is evaluated, or that the daemon does not run."""


def leaderboard_assets(catalog: Catalog) -> list[dg.AssetsDefinition]:
    """Build the published numbers and the leaderboard as assets."""
    return [_published_asset(catalog), _leaderboard(catalog)]


def _published_asset(catalog: Catalog) -> dg.AssetsDefinition:
    @dg.asset(
        deps=[LEADERBOARD_INPUTS],
        group_name="leaderboard",
        kinds={"python"},
        tags={"bench/stage": "leaderboard"},
        description="One row: one number as a paper printed it, with the paper and the table.",
    )
    def published(context: dg.AssetExecutionContext) -> dg.Output[list[PublishedNumber]]:
        rows, problems = catalog.published()
        for problem in problems:
            context.log.warning(problem)
        return table_output(rows, {"problems": "; ".join(problems) or "none"})

    return published


def _leaderboard(catalog: Catalog) -> dg.AssetsDefinition:
    tables_read: dict[dg.AssetKey, None] = {}  # tasks may share one
    for task in catalog.tasks:
        tables_read[dg.AssetKey(questions_key(task, "main"))] = None
        tables_read[dg.AssetKey(evaluation_key(task, "main", "metrics"))] = None
    inputs = [
        key(suite)
        for suite in catalog.evaluable.names
        for key in (source_key, judge_key, scorer_key)
    ]

    @dg.asset(
        ins={"published": dg.AssetIn()},
        deps=[*tables_read, *inputs, LEADERBOARD_INPUTS, MODEL_SETUP],
        group_name="leaderboard",
        kinds={"duckdb"},
        tags={"bench/stage": "leaderboard"},
        freshness_policy=FRESHNESS,
        description=(
            "One row: a task's primary metric for one model, measured here on the questions as "
            "they are now, or published. Rows of different editions are not comparable. `export/` "
            "has it as CSV and Parquet."
        ),
    )
    def leaderboard(
        settings: dg.ResourceParam[Settings], tables: TableFiles, published: list[PublishedNumber]
    ) -> dg.Output[list[LeaderboardRow]]:
        rows = rank_tasks(catalog.tasks, tables, published, CurrentConfiguration(settings))
        write_export(rows, tables)
        return table_output(
            rows,
            {
                "table": dg.MetadataValue.md(as_markdown(rows)),
                "csv": dg.MetadataValue.path(tables.export.named("leaderboard.csv")),
            },
        )

    return leaderboard


def write_export(rows: Sequence[LeaderboardRow], tables: TableFiles) -> None:
    """Write the leaderboard as CSV and Parquet files, for use elsewhere.

    Raises:
        TableError: If a value is not of its column's type.
    """
    frame = leaderboard_frame(rows)
    tables.export.put("leaderboard.csv", as_csv(frame).encode())
    tables.export.put("leaderboard.parquet", frame.to_parquet(index=False))


def as_csv(frame: "pd.DataFrame") -> str:
    """Format as CSV with whole counts, in which spreadsheets read no cell as a formula."""
    counts = {name: "Int64" for name in frame.columns if name.removeprefix("n_") in _COUNTS}
    cells = frame.astype(counts).astype(object)  # else a count beside a missing one is 40.0
    safe = cells.map(lambda cell: escape_formula(cell) if isinstance(cell, str) else cell)
    return str(safe.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC))


def as_markdown(rows: Sequence[LeaderboardRow]) -> str:
    """Format the leaderboard as Markdown for the UI."""
    columns = ("task", "edition", "model", "value", "95 % interval", "constant", "shuffled", "n")
    lines = [f"| {' | '.join(columns)} | source |", "|---" * (len(columns) + 1) + "|"]
    for row in rows:
        n = f"{'' if row.n_scored is None else row.n_scored}{format_caveats(row)}"
        lines.append(
            f"| {row.task} {row.metric} | {row.edition} | {escape_markdown(row.model)}"
            f" | {format_value(row)}"
            f" | {format_interval(row)} | {format_blind(row.constant)}"
            f" | {format_blind(row.shuffled)} | {n}"
            f" | {escape_markdown(row.shown_source)} |"
        )
    return "\n".join(lines)


def leaderboard_frame(rows: Sequence[LeaderboardRow]) -> "pd.DataFrame":
    """Build the exported data frame; validates its columns of names and of numbers.

    Raises:
        TableError: If a value is not of its column's type.
    """
    import pandas as pd
    from dagster_pandas import PandasColumn, create_dagster_pandas_dataframe_type

    texts = ["task", "edition", "metric", "model", "source"]
    frame_type = create_dagster_pandas_dataframe_type(
        name="Leaderboard",
        columns=[
            *(PandasColumn.string_column(name, non_nullable=True) for name in texts),
            *(PandasColumn.float_column(name, ignore_missing_vals=True) for name in _NUMBERS),
        ],
    )
    names = list(LeaderboardRow.__dataclass_fields__)
    frame = pd.DataFrame([to_json(row) for row in rows], columns=names)
    frame = frame.astype(dict.fromkeys(_NUMBERS, float))
    check = frame_type.type_check(None, frame)
    if not check.success:
        raise TableError(f"leaderboard: {check.description}")
    return frame
