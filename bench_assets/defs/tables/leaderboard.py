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
from bench_assets.asset_factory.suite_assets import (
    MODEL_SETUP,
    judge_key,
    scorer_key,
    source_key,
)
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

_CURRENT = """
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

    ``with_partial``: also models of which only a part of the questions was evaluated.

    Partial numbers come last; after them stale ones, such as those evaluated on older questions,
    with the reason in ``stale``, and those with unreadable tables, by name and reason without a
    number. Results on other sources stay, with
    their ``place``; rows are grouped by edition, the present edition first.
    """
    printed = [
        row
        for row in published
        if (row.task, row.metric, row.category, row.condition)
        == (task.name, task.primary_metric, "all", "main")
    ]
    rows = [
        *_measured_rows(task, tables, configured),
        *_other_source_rows(task, tables, configured),
        *map(_published_row, printed),
    ]
    if with_partial:
        measured = {row.model for row in rows if row.is_measured and not row.place}
        partial_rows, _ = _current(task, partial_tables(tables.home), None)
        rows += [replace(row, stale="") for row in partial_rows if row.model not in measured]
    names, lower = baselines(configured.models if configured else {}), task.is_lowest_best
    rows = [
        replace(row, is_baseline=row.is_measured and row.model in names, lower_is_better=lower)
        for row in rows
    ]
    editions = list(dict.fromkeys(row.edition for row in rows))
    return add_rank_intervals(
        sorted(rows, key=lambda row: (editions.index(row.edition), *_place(row)))
    )


def _place(row: LeaderboardRow) -> tuple[object, ...]:
    """Sort key within an edition; for published rows, by source."""
    if not row.is_measured:
        return True, row.source, -row.merit
    unreadable = row.n_scored is None
    is_partial = bool(row.n_failed or partial_part(row.signature))
    doubt = unreadable, bool(row.stale), is_partial, isnan(row.value), is_hidden(row)
    return False, row.place, *doubt, 0.0 if isnan(row.value) else -row.merit, row.model


def rank_tasks(
    tasks: Sequence[Task],
    tables: TableFiles,
    published: Sequence[PublishedNumber],
    configured: CurrentConfiguration | None = None,
    *,
    with_partial: bool = False,
) -> list[LeaderboardRow]:
    """Rank the models of each task; with an object store, reading overlaps with ranking."""
    of_task = partial(
        rank_task,
        tables=tables,
        published=published,
        configured=configured,
        with_partial=with_partial,
    )
    if tables.blobs.folder is not None:
        return [row for task in tasks for row in of_task(task)]
    with ThreadPoolExecutor(2) as threads:
        return [row for rows in threads.map(of_task, tasks) for row in rows]


def _measured_rows(
    task: Task, tables: TableFiles, configured: CurrentConfiguration | None
) -> list[LeaderboardRow]:
    current, unreadable = _current(task, tables, configured)
    edition = current[0].edition if current else _edition(task, tables) if unreadable else UNKNOWN
    return [*current, *(_unreadable(task, edition, *failure) for failure in unreadable.items())]


def _other_source_rows(
    task: Task, tables: TableFiles, configured: CurrentConfiguration | None
) -> Iterator[LeaderboardRow]:
    """Metrics on other sources, except sources with the same questions."""
    for source, other_source in other_sources(task, tables):
        for row in _measured_rows(task, other_source, configured):
            yield replace(row, place=source)


def _edition(task: Task, tables: TableFiles) -> str:
    """Edition of the present questions, which metrics do not store."""
    return describe_questions(tables, task).edition or UNKNOWN


def _current(
    task: Task, tables: TableFiles, configured: CurrentConfiguration | None
) -> tuple[list[LeaderboardRow], dict[str, str]]:
    """Metrics of a home's tables; models with unreadable tables, and why."""
    key = evaluation_key(task, "main", "metrics")
    damaged: dict[Table, str] = {}
    try:
        data = tables.digest(evaluation_key(task, "main", "questions"))
        wanted = {"task": task.name, "metric": task.primary_metric, "category": "all"}
        metrics = tables.query(_CURRENT, {"metrics": ([key], Metric)}, damaged, **wanted)
    except TableError as error:
        return [], dict.fromkeys(tables.known(key), str(error))
    unreadable = {model: reason for (_, model), reason in damaged.items()}
    rows = []
    measured = dict(_rows_or_errors(metrics))
    readable = [row for row in measured.values() if isinstance(row, Metric)]
    measured |= {row.model: row for row in with_people(tables, task, readable)}
    for model, metric_row in measured.items():
        if isinstance(metric_row, str):
            unreadable[model] = metric_row
            continue
        try:
            if configured:
                stale = configured.stale_reason(task, metric_row, tables)
            else:
                stale = (
                    "" if metric_row.questions == short_digest(data or "") else QUESTIONS_CHANGED
                )
            rows.append(_measured_row(task, metric_row, stale))
        except TableError as error:
            unreadable[model] = str(error)
    return rows, unreadable


def _rows_or_errors(found: "pa.Table") -> Iterator[tuple[str, Metric | str]]:
    """Yield each row with its model; an unreadable row yields its error."""
    try:
        yield from ((row.model, row) for row in to_rows(found, Metric))
    except TableError:
        for number in range(found.num_rows):
            try:
                (row,) = to_rows(found.slice(number, 1), Metric)
                yield row.model, row
            except TableError as error:
                yield str(found.column("model")[number]), str(error)


def _measured_row(task: Task, row: Metric, stale: str) -> LeaderboardRow:
    extensions = Signature.parse(row.signature).extensions
    shared = {name: getattr(row, name) for name in _SHARED_COLUMNS}
    fields = {
        "task": "+".join((row.task, *extensions)),
        "source": f"{IMPORTED}{task.measured_by}" if task.measured_by else MEASURED,
        "low": None if isnan(row.low) else row.low,
        "high": None if isnan(row.high) else row.high,
        "served": row.served or "",
        "people": row.people or "",
    }
    return LeaderboardRow(**shared | fields, stale=stale)


_SHARED_COLUMNS = {f.name for f in fields(LeaderboardRow)} & {f.name for f in fields(Metric)}


_make_value_row = partial(
    LeaderboardRow,
    low=None,
    high=None,
    n_scored=None,
    n_unscored=None,
    n_failed=None,
    signature="",
)


def _unreadable(task: Task, edition: str, model: str, why: str) -> LeaderboardRow:
    return _make_value_row(
        task="+".join((task.name, *task.extensions)),
        edition=edition,
        metric=task.primary_metric,
        model=model,
        source=f"{UNREADABLE}: {why}",
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
"""Age at which the leaderboard and the report are marked as old: they follow each new number, so
that older ones say that nothing is evaluated, or that the daemon does not run."""


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
    @dg.asset(
        ins={"published": dg.AssetIn()},
        deps=[
            *dict.fromkeys(
                dg.AssetKey(key(task, "main"))
                for task in catalog.tasks
                for key in (questions_key, partial(evaluation_key, table="metrics"))
            ),
            *(
                key(suite)
                for suite in catalog.evaluable.names
                for key in (source_key, judge_key, scorer_key)
            ),
            LEADERBOARD_INPUTS,
            MODEL_SETUP,
        ],
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
        now = CurrentConfiguration(settings)
        rows = rank_tasks(catalog.tasks, tables, published, now)
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
    """Build the exported data frame, with every column validated.

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
