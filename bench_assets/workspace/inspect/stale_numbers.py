"""Stale numbers of a home: for every command that prints or ships one."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from bench_assets.asset_factory.evaluation_tables import evaluation_key
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.rows import Metric
from bench_assets.defs.checks.staleness import CurrentConfiguration
from bench_assets.evaluation.task import Task
from bench_assets.workspace.console.output import print_message
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.tables.parquet import TableFiles


class StaleNumber(NamedTuple):
    """An evaluation whose number is not of the present questions, source or settings."""

    task: Task
    condition: str
    model: str
    reason: str

    def __str__(self) -> str:
        """Format as a message."""
        condition = "" if self.condition == "main" else f", {self.condition},"
        return f"{self.task.name}{condition} of {self.model}: stale: {self.reason}"


def stale_reason(
    bench: Workbench, task: Task, rows: Sequence[Metric], tables: TableFiles | None = None
) -> str:
    """Reason why the metrics of an evaluation are stale; "" if they are current, or none."""
    configuration = CurrentConfiguration(bench.settings)
    return configuration.stale_reason(task, rows[0], tables or bench.tables) if rows else ""


def stale_numbers(bench: Workbench, tasks: Iterable[Task] | None = None) -> Iterator[StaleNumber]:
    """Find the stale numbers of the present sources; tables that cannot be read are left out."""
    configuration = CurrentConfiguration(bench.settings)
    for task in bench.catalog.tasks if tasks is None else tasks:
        for condition in task.conditions:
            key = evaluation_key(task, condition, "metrics")
            for model in bench.tables.known(key):
                try:
                    rows = bench.tables.read(key, Metric, model)
                    reason = configuration.stale_reason(task, rows[0], bench.tables) if rows else ""
                except TableError:  # bench home verify reports it
                    continue
                if reason:
                    yield StaleNumber(task=task, condition=condition, model=model, reason=reason)


def print_stale_questions(bench: Workbench, tasks: Iterable[Task]) -> None:
    """Report question tables whose source has changed since they were built."""
    configuration = CurrentConfiguration(bench.settings)
    for task in tasks:
        if reason := configuration.questions_stale_reason(task, bench.tables):
            print_message(f"{task.name}: stale questions: {reason}")
