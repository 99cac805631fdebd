"""Operations of ``bench export``: reads stored tables; builds and requests nothing.

The exception is BLINK's submission, whose responses are generated first, as for a paper's table.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from bench_assets.core.schema.errors import SettingsError, TableError
from bench_assets.core.schema.rows import LeaderboardRow
from bench_assets.defs.checks.staleness import CurrentConfiguration
from bench_assets.defs.tables.leaderboard import rank_task
from bench_assets.evaluation.task import Task
from bench_assets.export.formats import ExportJob, format_of
from bench_assets.workspace.inspect.stale_numbers import StaleNumber, stale_numbers
from bench_assets.workspace.inspect.table_collection import TableCollection, TableFilter
from bench_assets.workspace.inspect.tables import make_paper_table
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.storage.atomic_write import open_atomic

FOLDER = "export"
SUBMISSION = "blink-submission"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest:
    """Options of ``bench export``."""

    form: str
    suites: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    editions: tuple[str, ...] = ()
    out: Path | None = None
    to: str = ""


class ExportResult(NamedTuple):
    """Files written, messages on what was left out, and numbers that are not current."""

    written: Sequence[Path | str]
    left_out: Sequence[str]
    stale: Sequence[StaleNumber]


def export_results(bench: Workbench, request: ExportRequest) -> ExportResult:
    """Write results in another project's format.

    Raises:
        UnknownNameError: If the format, suite, model, condition or edition is unknown.
        TableError: If there is nothing to write.
        HomeError: If it cannot be written.
    """
    if request.form == SUBMISSION:
        return ExportResult(_submissions(bench, request), [], [])
    write = format_of(request.form, [SUBMISSION])
    home = bench.settings.home
    names = request.suites or bench.catalog.names
    tasks = {task.name: task for name in names for task in bench.catalog.tasks_of(name)}
    wanted = TableFilter(
        list(tasks.values()),
        request.models,
        request.conditions,
        request.editions,
        as_shown=True,
    )
    gathered = TableCollection(bench.tables, wanted)
    leaving = ExportJob(
        gathered=gathered,
        standings=partial(_leaderboard_rows, bench, wanted.tasks),
        out=request.out or home / FOLDER / request.form,
        to=request.to,
    )
    written = write(leaving)
    if not written:
        of = f" of the edition {' or '.join(wanted.editions)}" if wanted.editions else ""
        left_out = "".join(f"; {line}" for line in gathered.left_out)
        raise TableError(f"nothing{of} to export as {request.form}{left_out}. Check --edition")
    stale = [
        number
        for number in stale_numbers(bench, wanted.tasks)
        if number.model in (wanted.models or [number.model])
    ]
    return ExportResult(written, gathered.left_out, stale)


def _leaderboard_rows(bench: Workbench, tasks: Sequence[Task]) -> list[LeaderboardRow]:
    """Compute the leaderboard of the given tasks without storing it."""
    published, _ = bench.catalog.published()
    now = CurrentConfiguration(bench.settings)
    return [row for task in tasks for row in rank_task(task, bench.tables, published, now)]


def _submissions(bench: Workbench, request: ExportRequest) -> list[Path]:
    """Write the submission files of BLINK's evaluation server."""
    if not request.models:
        raise SettingsError(f"{SUBMISSION} is of one model: name it with --model")
    written = []
    for model in request.models:
        make_paper_table(bench, "blink", "submission", model)
        submission = bench.settings.home / FOLDER / f"blink_test_{quote(model, safe='@+=')}.json"
        written.append(request.out / submission.name if request.out else submission)
        if request.out:
            with open_atomic(written[-1]) as file:
                file.write(submission.read_bytes())
    return written
