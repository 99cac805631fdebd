"""Leaderboard matrices: models by tasks, one matrix per edition, with blind baselines."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import TypeAlias

import numpy as np

from bench_assets.asset_factory.evaluation_tables import describe_questions
from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.metric_text import (
    cluster_warning,
    format_mixed,
    format_percent,
    format_value,
    is_hidden,
    shown_interval,
)
from bench_assets.core.schema.rows import UNKNOWN, LeaderboardRow
from bench_assets.core.schema.signature import partial_part
from bench_assets.core.stats.ranks import MeanRanks, rank_models
from bench_assets.defs.checks.staleness import CurrentConfiguration
from bench_assets.defs.tables.leaderboard import rank_tasks
from bench_assets.evaluation.checked_scores import NOT_CHECKED
from bench_assets.report.building import make_report, parts, write_report
from bench_assets.report.site.folder import STAMPS_FILE, Site
from bench_assets.workspace.console.new_home import print_new_home
from bench_assets.workspace.console.output import print_message
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.images.store import open_image_store
from bench_sensors.checkpoints import describe_missing

_MARKS = {
    "*": "PARTIAL: some questions are left out, or without a response",
    "°": "few effective clusters, or one that dominates: a rough interval, probably too wide",
    "~": "stale: of other questions, sources or settings than the present: bench leaderboard TASK",
    "^": "imported: measured by another harness",
    "?": f"{NOT_CHECKED}, the judge's own number: bench annotate verdicts TASK",
    "'": "read by itself: the model looked again at its own responses",
    "!": "its table cannot be read: run bench home verify",
    "none": "no response could be scored",
}

_Levels: TypeAlias = Mapping[str, Mapping[str, float | None]]  # baseline -> task -> value
_RANKS = "after a value: 95 % interval of the model's rank, simultaneous for all models of a task"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """One row of a matrix: a model, a published row or a blind baseline."""

    name: str
    cells: Mapping[str, str]  # task -> value with its mark
    rank: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """All models on all tasks of one edition."""

    edition: str
    tasks: tuple[str, ...]
    models: tuple[MatrixRow, ...]  # measured models, best mean rank first
    blind: tuple[MatrixRow, ...]  # blind baselines, chance, best constant response
    published: tuple[MatrixRow, ...]  # numbers of papers
    ranked: tuple[str, ...]  # tasks that the mean rank averages
    lowest_best: tuple[str, ...] = ()  # tasks whose lowest value is the best
    unlearnt: tuple[str, ...] = ()  # the last tasks, if a model is above the baselines on others

    @property
    def winner(self) -> str:
        """Sentence about the best mean rank; "" unless models are ranked over several tasks."""
        ranked = [row for row in self.models if row.rank]
        if len(ranked) < 2 or len(self.ranked) < 2:
            return ""
        counts = f"of {len(ranked)} models over {len(self.ranked)} tasks"
        return f"{ranked[0].name} has the best mean rank, {ranked[0].rank}, {counts}."

    @property
    def legend(self) -> list[str]:
        """Meanings of the marks and ranks in use, and notes on tasks, one per line."""
        cells = [cell for row in self.models + self.blind for cell in row.cells.values()]
        # The first line of a cell is its value with marks, then a space and the interval of ranks.
        first_lines = [cell.partition("\n")[0].split(" ") for cell in cells]
        values = "".join(value for value, *_ in first_lines)
        lines = [f"{mark} {meaning}" for mark, meaning in _MARKS.items() if mark in values]
        if any(len(line) > 1 for line in first_lines):
            lines.append(_RANKS)
        if any(task not in row.cells for row in self.models for task in self.tasks):
            lines.append("– not evaluated")
        if self.unlearnt:
            tasks = ", ".join(self.unlearnt)
            lines.append(f"no model is shown to be better than the best blind baseline: {tasks}")
        return [*lines, *(f"lower is better: {task}" for task in self.lowest_best)]


def matrices(rows: Sequence[LeaderboardRow], chance: Mapping[str, float | None]) -> list[Matrix]:
    """Arrange a matrix for each edition and source, whose numbers are not comparable with others'.

    ``chance`` has the expected score of guessing on each task's present questions, if known.
    """
    rows = _with_editions(rows)
    groups = dict.fromkeys((row.edition, row.place) for row in rows if row.is_measured)
    groups |= dict.fromkeys((row.edition, "") for row in rows if not row.is_measured)
    first_groups = [(edition, place) for edition, place in groups if not place]
    other_groups = [(edition, place) for edition, place in groups if place]
    return [_matrix(edition, place, rows, chance) for edition, place in first_groups + other_groups]


def _with_editions(rows: Sequence[LeaderboardRow]) -> list[LeaderboardRow]:
    """Assign unreadable rows, which have no edition, to the first edition of their source."""
    editions: dict[str, str] = {}
    for row in rows:
        if row.is_measured and row.edition != UNKNOWN:
            editions.setdefault(row.place, row.edition)
    return [
        replace(row, edition=editions.get(row.place, UNKNOWN)) if row.edition == UNKNOWN else row
        for row in rows
    ]


def _matrix(
    edition: str, place: str, rows: Sequence[LeaderboardRow], chance: Mapping[str, float | None]
) -> Matrix:
    """Arrange the rows of an edition; ``place`` is "" for the configured source."""
    rows = [row for row in rows if (row.edition, row.place) == (edition, place)]
    measured = [row for row in rows if row.is_measured]
    ranks = _rank_models(measured)
    mean_ranks = {rank.model: rank.mean for rank in ranks.ranks}
    baselines = sorted({row.model for row in measured if row.is_baseline})
    models = sorted(
        {row.model for row in measured}.difference(baselines),
        key=lambda model: (mean_ranks.get(model, np.inf), model),
    )
    constants = _best_constants(measured)
    levels: _Levels = {"chance": {} if place else chance, "best constant response": constants}
    learnt = _learnt_tasks(measured, levels)
    tasks = sorted(dict.fromkeys(row.task for row in rows), key=lambda task: task not in learnt)
    return Matrix(
        edition=f"{edition} edition" + (f" of {place}" if place else ""),
        tasks=tuple(tasks),
        models=tuple(_matrix_row(model, measured, mean_ranks) for model in models),
        blind=(
            *(_matrix_row(model, measured, mean_ranks) for model in baselines),
            *(_level_rows(tasks, levels) if measured else ()),
        ),
        published=tuple(_published_rows([row for row in rows if not row.is_measured])),
        ranked=ranks.tasks,
        lowest_best=tuple(dict.fromkeys(row.task for row in rows if row.lower_is_better)),
        unlearnt=tuple(task for task in tasks if task not in learnt) if learnt else (),
    )


def _matrix_row(
    model: str, rows: Sequence[LeaderboardRow], mean_ranks: Mapping[str, float]
) -> MatrixRow:
    return MatrixRow(
        name=model,
        cells={row.task: _cell(row) for row in rows if row.model == model},
        rank=f"{mean_ranks[model]:.1f}" if model in mean_ranks else "",
    )


def _best_constants(rows: Sequence[LeaderboardRow]) -> dict[str, float]:
    """Score of the best constant response by task; the rows of a judged task may differ."""
    constants: dict[str, float] = {}
    for row in rows:
        if row.constant is not None:
            best = min if row.lower_is_better else max
            constants[row.task] = best(row.constant, constants.get(row.task, row.constant))
    return constants


def _learnt_tasks(rows: Sequence[LeaderboardRow], levels: _Levels) -> set[str]:
    """Tasks on which the whole interval of a model is above every blind baseline."""
    merits = _blind_merits(rows, levels)
    tasks: set[str] = set()
    for row in rows:
        interval = shown_interval(row)
        is_doubtful = row.is_baseline or partial_part(row.signature) or row.stale
        if is_doubtful or not interval or not merits[row.task]:
            continue
        low, high = interval
        lowest_merit = -high if row.lower_is_better else low
        if lowest_merit > max(merits[row.task]):
            tasks.add(row.task)
    return tasks


def _blind_merits(rows: Sequence[LeaderboardRow], levels: _Levels) -> dict[str, list[float]]:
    """Values of the blind baselines by task, negated where lower is better."""
    merits: dict[str, list[float]] = {row.task: [] for row in rows}
    for row in rows:
        sign = -1 if row.lower_is_better else 1
        values = (values_by_task.get(row.task) for values_by_task in levels.values())
        merits[row.task] += [sign * value for value in values if value is not None]
        if row.is_baseline and not isnan(row.value):
            merits[row.task].append(row.merit)
    return merits


def _level_rows(tasks: Sequence[str], levels: _Levels) -> Iterator[MatrixRow]:
    """Rows of values that need no model, such as chance; omits empty rows."""
    for name, values in levels.items():
        cells = {}
        for task in tasks:
            value = values.get(task)
            if value is not None:
                cells[task] = f"{value:.3f}"
        if cells:
            yield MatrixRow(name=name, cells=cells)


def _rank_models(rows: Sequence[LeaderboardRow]) -> MeanRanks:
    """Rank models by task; without baselines, and numbers that are partial or not shown."""
    values: dict[str, dict[str, float]] = {}
    for row in rows:
        is_doubtful = partial_part(row.signature) or is_hidden(row)
        if not (isnan(row.value) or row.is_baseline or is_doubtful):
            values.setdefault(row.task, {})[row.model] = row.merit
    return rank_models(values, np.random.default_rng(0))  # a fixed seed: the same ranks every time


def _cell(row: LeaderboardRow) -> str:
    """Value with its marks and the interval of its rank, then a line for each outcome."""
    if isnan(row.value):
        return "!" if row.n_scored is None else "none"
    value = f"{format_value(row).replace(' to ', '-')}{_marks(row)}"
    return "\n".join([f"{value} {row.ranks}" if row.ranks else value, *_outcomes(row)])


def _marks(row: LeaderboardRow) -> str:
    conditions = {
        "*": row.n_failed or partial_part(row.signature),
        "°": cluster_warning(row),
        "~": row.stale,
        "^": row.is_imported,
        "?": row.people.startswith(NOT_CHECKED),
        "'": row.is_read_by_itself,
    }
    return "".join(mark for mark, applies in conditions.items() if applies)


def _outcomes(row: LeaderboardRow) -> Iterator[str]:
    """People's labels, unread or refused responses, and several models behind one name."""
    if row.people and not row.people.startswith(NOT_CHECKED):
        yield row.people.partition(";")[0]
    if row.unread:
        yield f"{format_percent(row.unread)} unread"
    if row.n_refused:
        yield f"{row.n_refused} refused"
    if format_mixed(row.signature):
        yield "mixed"


def _published_rows(rows: Sequence[LeaderboardRow]) -> Iterator[MatrixRow]:
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        cells.setdefault((row.model, row.source), {})[row.task] = f"{row.value:.3f}"
    for (model, source), values in cells.items():
        yield MatrixRow(name=f"{model} ({source})", cells=values)


def present_leaderboard(bench: Workbench) -> list[LeaderboardRow]:
    """Rank the models of each task, partial results included; updates stored ranks if possible.

    Raises:
        BenchError: If it cannot be computed.
    """
    if bench.settings.home.exists() and not bench.is_read_only:
        bench.refresh_leaderboard()
    published, _ = bench.catalog.published()
    configuration = CurrentConfiguration(bench.settings)
    return rank_tasks(
        bench.catalog.tasks, bench.tables, published, configuration, with_partial=True
    )


def present_report(
    bench: Workbench, without_images: Collection[str] = (), out: Path | None = None
) -> Path:
    """Build the report from the present tables of a home, and return the path of its page.

    ``out``: its folder; None: that of the home.

    Raises:
        BenchError: If it cannot be built, or ``out`` holds other files.
    """
    if out and out.is_dir() and any(out.iterdir()) and not (out / STAMPS_FILE).exists():
        raise SettingsError(f"{out}: neither empty nor a report; nothing was written")
    settings, tables, catalog = bench.settings, bench.tables, bench.catalog
    published, _ = catalog.published()
    rows = rank_tasks(catalog.tasks, tables, published, CurrentConfiguration(settings))
    report_parts = parts(rows, catalog, settings, without_images, missing_numbers(bench))
    if out is None:
        print_new_home(settings.home)
        return make_report(settings, tables, catalog, report_parts, print_message)
    site = Site(out, open_image_store(settings))
    write_report(site, tables, catalog, report_parts)
    return site.folder / "index.html"


def missing_numbers(bench: Workbench) -> list[str]:
    """Describe the checkpoints of [checkpoints] without a number, one line each."""
    if bench.is_read_only or not bench.settings.checkpoints.folders:
        return []
    return describe_missing(bench.instance, bench.settings, bench.catalog.evaluable.suites)


def chance_levels(bench: Workbench) -> dict[str, float | None]:
    """Expected score of guessing on each task's present questions; None if unknown."""
    return {
        task.name: describe_questions(bench.tables, task).chance for task in bench.catalog.tasks
    }
