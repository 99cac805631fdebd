"""The leaderboard as it is now, also of a home that may only be read."""

import os
from collections.abc import Sequence

from bench_assets.bench.workbench import Workbench
from bench_assets.core.standing import Standing
from bench_assets.graph.standings import all_standings
from bench_assets.report.judges import measured_judges, unmeasured_judge
from bench_assets.report.measured import exam


def present_leaderboard(bench: Workbench) -> list[Standing]:
    """Gather the leaderboard unless nothing changed; where nothing may be written, keep none.

    Raises:
        BenchError: If it cannot be gathered.
    """
    home = bench.settings.home
    if home.exists() and not os.access(home, os.W_OK):
        published, _ = bench.catalog.published()
        return all_standings(bench.catalog.tasks, bench.tables, published)
    bench.refresh_leaderboard()
    return list(bench.rows("leaderboard"))


def chances(bench: Workbench) -> dict[str, float | None]:
    """Task -> what a blind guess gives on the questions as they are now, where that is known."""
    return {task.name: exam(bench.tables, task).chance for task in bench.catalog.tasks}


def unmeasured(bench: Workbench, rows: Sequence[Standing]) -> set[str]:
    """Signatures of numbers whose judge's agreement was never measured."""
    known = measured_judges(bench.tables, bench.catalog.tasks)
    return {
        row.signature
        for row in rows
        if unmeasured_judge(row.task.partition("+")[0], row.signature, known)
    }
