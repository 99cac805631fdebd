"""The lines of the leaderboard of one task: what was measured here, and what papers print."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from math import nan
from typing import TYPE_CHECKING

from bench_assets.core.errors import TableError
from bench_assets.core.published import Published
from bench_assets.core.rank_intervals import ranked
from bench_assets.core.rows import Metric
from bench_assets.core.signature import Signature, short
from bench_assets.core.standing import UNKNOWN, Standing
from bench_assets.core.tables import to_rows
from bench_assets.evaluation import evaluation_key
from bench_assets.graph.staleness import Configured
from bench_assets.report.measured import exam
from bench_assets.report.other_sources import other_sources
from bench_assets.task import Task
from resources.home.tables import Table, TableFiles

if TYPE_CHECKING:
    import pyarrow as pa

MEASURED = "measured here"
UNREADABLE = "unreadable"

_CURRENT = """
SELECT * FROM metrics
WHERE condition = 'main' AND category = 'all' AND task = $task AND metric = $metric
ORDER BY n_failed > 0, value DESC NULLS LAST, model
"""


def standings(
    task: Task,
    tables: TableFiles,
    published: Sequence[Published],
    configured: Configured | None = None,
) -> list[Standing]:
    """Rank the models of one task: ours on the present questions, best first, then published.

    A model that was measured on questions that have changed since is left out until it is
    measured again. One with failed questions comes last; still behind it, with the reason in
    ``stale``, one that was measured otherwise than ``configured`` now, and those whose table
    cannot be read: by name, with the reason and without a number. What was measured on other
    sources stays, with their ``place``; rows of one edition stand together, the present one first.
    """
    printed = [
        row
        for row in published
        if (row.task, row.metric, row.category, row.condition)
        == (task.name, task.primary_metric, "all", "main")
    ]
    rows = [
        *_measured_on(task, tables, configured),
        *_measured_elsewhere(task, tables, configured),
        *map(_printed, sorted(printed, key=lambda row: (row.source, -row.value))),
    ]
    editions = list(dict.fromkeys(row.edition for row in rows))
    return ranked(sorted(rows, key=lambda row: editions.index(row.edition)))


def all_standings(
    tasks: Sequence[Task],
    tables: TableFiles,
    published: Sequence[Published],
    configured: Configured | None = None,
) -> list[Standing]:
    """Rank the models of tasks, one after the other; of tables in a store many at a time."""
    of_task = partial(standings, tables=tables, published=published, configured=configured)
    if tables.blobs.folder is not None:
        return [row for task in tasks for row in of_task(task)]
    with ThreadPoolExecutor() as threads:
        return [row for rows in threads.map(of_task, tasks) for row in rows]


def _measured_on(task: Task, tables: TableFiles, configured: Configured | None) -> list[Standing]:
    found, unreadable = _current(task, tables, configured)
    edition = found[0].edition if found else _edition(task, tables) if unreadable else UNKNOWN
    return [
        *sorted(found, key=lambda row: bool(row.stale)),
        *(_unreadable(task, edition, *one) for one in unreadable.items()),
    ]


def _measured_elsewhere(
    task: Task, tables: TableFiles, configured: Configured | None
) -> Iterator[Standing]:
    """What was measured on other sources; not on one that has the same questions."""
    for place, others in other_sources(task, tables):
        for row in _measured_on(task, others, configured):
            yield replace(row, place=place)


def _edition(task: Task, tables: TableFiles) -> str:
    """The edition of the present questions, which no number says."""
    return exam(tables, task).edition or UNKNOWN


def _current(
    task: Task, tables: TableFiles, configured: Configured | None
) -> tuple[list[Standing], dict[str, str]]:
    """What was measured on the present questions; of which models nothing can be read, and why."""
    key = evaluation_key(task, "main", "metrics")
    damaged: dict[Table, str] = {}
    try:
        data = tables.digest(evaluation_key(task, "main", "questions"))
        found = tables.query(
            _CURRENT,
            {"metrics": ([key], Metric)},
            damaged,
            task=task.name,
            metric=task.primary_metric,
        )
    except TableError as why:
        return [], dict.fromkeys(tables.known(key), str(why))
    unreadable = {model: why for (_, model), why in damaged.items()}
    rows = []
    for model, one in _each(found):
        if isinstance(one, str):
            unreadable[model] = one
            continue
        try:
            stale = configured.why_stale(task, one) if configured else ""
            rows += [_measured(one, stale)] if data and one.questions == short(data) else []
        except TableError as why:
            unreadable[model] = str(why)
    return rows, unreadable


def _each(found: "pa.Table") -> Iterator[tuple[str, Metric | str]]:
    """Each row with its model, or why it is none: that does not end the rest."""
    try:
        yield from ((row.model, row) for row in to_rows(found, Metric))
    except TableError:
        for number in range(found.num_rows):
            try:
                (row,) = to_rows(found.slice(number, 1), Metric)
                yield row.model, row
            except TableError as why:
                yield str(found.column("model")[number]), str(why)


def _measured(row: Metric, stale: str) -> Standing:
    extensions = Signature.parse(row.signature).extensions
    return Standing(
        task="+".join((row.task, *extensions)),
        edition=row.edition,
        metric=row.metric,
        model=row.model,
        source=MEASURED,
        value=row.value,
        low=row.low,
        high=row.high,
        n_scored=row.n_scored,
        n_unscored=row.n_unscored,
        n_failed=row.n_failed,
        n_no_answer=row.n_no_answer,
        constant=row.constant,
        shuffled=row.shuffled,
        stale=stale,
        signature=row.signature,
    )


def _unreadable(task: Task, edition: str, model: str, why: str) -> Standing:
    return Standing(
        task="+".join((task.name, *task.extensions)),
        edition=edition,
        metric=task.primary_metric,
        model=model,
        source=f"{UNREADABLE}: {why}",
        value=nan,
        low=None,
        high=None,
        n_scored=None,
        n_unscored=None,
        n_failed=None,
        signature="",
    )


def _printed(row: Published) -> Standing:
    return Standing(
        task=row.task,
        edition="published",
        metric=row.metric,
        model=row.model,
        source=row.source,
        value=row.value,
        low=None,
        high=None,
        n_scored=None,
        n_unscored=None,
        n_failed=None,
        signature="",
    )
