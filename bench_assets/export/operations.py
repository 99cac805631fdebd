"""Operations of ``bench export``: reads stored tables; builds and requests nothing.

The exception is BLINK's submission, whose responses are generated first, as for a paper's table.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from bench_assets.core.schema.errors import SettingsError, TableError, UnknownNameError
from bench_assets.core.schema.rows import LeaderboardRow
from bench_assets.defs.checks.staleness import CurrentConfiguration
from bench_assets.defs.tables.leaderboard import rank_task
from bench_assets.evaluation.task import Task
from bench_assets.export.formats import FORMATS, ExportJob
from bench_assets.workspace.inspect.stale_numbers import StaleNumber, stale_numbers
from bench_assets.workspace.inspect.table_collection import TableCollection, TableFilter
from bench_assets.workspace.inspect.tables import make_paper_table
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.datasets.source_files import open_source
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
    """Files and addresses written to, messages on omissions, and numbers that are not current."""

    outputs: Sequence[Path | str]
    left_out: Sequence[str]
    stale: Sequence[StaleNumber]


def export_results(bench: Workbench, request: ExportRequest) -> ExportResult:
    """Write results in another project's format.

    Raises:
        UnknownNameError: If the format, suite, model, condition or edition is unknown.
        SettingsError: If an option has no effect on the format, or a submission is requested
            without a model or of the mini edition.
        TableError: If there is nothing to write.
        BenchError: If a package is missing, an input cannot be made or a file cannot be written.
    """
    if request.form not in (*FORMATS, SUBMISSION):
        raise UnknownNameError("format", request.form, [*FORMATS, SUBMISSION])
    _refuse_unused_options(request)
    if request.form == SUBMISSION:
        return _write_submissions(bench, request)
    home = bench.settings.home
    names = request.suites or bench.catalog.names
    tasks = {task.name: task for name in names for task in bench.catalog.tasks_of(name)}
    table_filter = TableFilter(
        tasks=list(tasks.values()),
        models=request.models,
        conditions=request.conditions,
        editions=request.editions,
        as_shown=True,
    )
    collection = TableCollection(bench.tables, table_filter)
    job = ExportJob(
        collection=collection,
        standings=partial(_leaderboard_rows, bench, table_filter.tasks),
        out=request.out or home / FOLDER / request.form,
        to=request.to,
    )
    outputs = FORMATS[request.form](job)
    if not outputs:
        editions = " or ".join(table_filter.editions)
        scope = f" of the edition {editions}" if editions else ""
        left_out = "".join(f"; {line}" for line in collection.left_out)
        raise TableError(
            f"nothing{scope} to export as {request.form}{left_out}. Evaluate a model, or select"
            " other results"
        )
    stale = [
        number
        for number in stale_numbers(bench, table_filter.tasks)
        if (not request.models or number.model in request.models)
        and (not request.conditions or number.condition in request.conditions)
    ]
    return ExportResult(outputs=outputs, left_out=collection.left_out, stale=stale)


def _refuse_unused_options(request: ExportRequest) -> None:
    """Refuse an option that has no effect on the requested format."""
    unused: dict[str, object] = {}
    if request.form == SUBMISSION:
        unused["--suite"] = set(request.suites) - {"blink"}
        unused["--condition"] = request.conditions
        unused["--edition"] = request.editions
    if request.form not in ("mlflow", "wandb"):
        unused["--to"] = request.to
    if request.form == "mlflow" and request.to:
        unused["--out"] = request.out
    for option, value in unused.items():
        if value:
            raise SettingsError(f"{option}: no effect on the export {request.form}. Leave it out")


def _leaderboard_rows(bench: Workbench, tasks: Sequence[Task]) -> list[LeaderboardRow]:
    published, _ = bench.catalog.published()
    configuration = CurrentConfiguration(bench.settings)
    return [
        row for task in tasks for row in rank_task(task, bench.tables, published, configuration)
    ]


def _write_submissions(bench: Workbench, request: ExportRequest) -> ExportResult:
    """Write each model's submission file for BLINK's evaluation server."""
    if not request.models:
        raise SettingsError(f"{SUBMISSION} is of one model: name it with --model")
    if open_source("blink", bench.settings).is_mini:
        raise SettingsError(
            f"{SUBMISSION}: BLINK's server does not score the mini edition. Give the release:"
            " --suite blink --source hf:BLINK-Benchmark/BLINK"
        )
    files = []
    for model in request.models:
        make_paper_table(bench, "blink", "submission", model)
        submission = bench.settings.home / FOLDER / f"blink_test_{quote(model, safe='@+=')}.json"
        target = request.out / submission.name if request.out else submission
        if target != submission:
            with open_atomic(target) as file:
                file.write(submission.read_bytes())
        files.append(target)
    editions = {question.edition for question in bench.rows("blink/test/questions")}
    left_out = [
        f"questions of the release that the source lacks: its edition is {edition!r}"
        for edition in sorted(editions - {"published"})
    ]
    return ExportResult(outputs=files, left_out=left_out, stale=[])
