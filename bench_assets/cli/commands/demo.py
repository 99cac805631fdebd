"""The demo and its closing summary."""

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from bench_assets.cli.output.leaderboard import print_matrices
from bench_assets.comparison.runs import run_verdicts
from bench_assets.core.schema.errors import BenchError
from bench_assets.core.schema.training_runs import step_of
from bench_assets.report.building import make_report
from bench_assets.workspace.console.output import print_message, print_result
from bench_assets.workspace.evaluate.second_process import evaluated_meanwhile
from bench_assets.workspace.inspect.leaderboard import (
    chance_levels,
    unvalidated_judge_signatures,
)
from bench_assets.workspace.materialization.backfill import build_questions
from bench_assets.workspace.materialization.workbench import Workbench
from resources.config.sections.models import DEMO_MODELS

NEXT_STEPS = """
Next:
  bench report --serve                                  every question, response and image
  bench evaluate codis --model path/to/checkpoint       your own model; or http://127.0.0.1:8000/v1#name
  bench ui                                              the same graph in the Dagster UI"""


_FIRST = "codis"  # the suite that is built in a few seconds
_SOON = ("codis", "cogbench")  # built here, while another process builds the others
_RUN = tuple(filter(step_of, DEMO_MODELS))
"""Checkpoints of one run: each is compared with the one before, and made again if that is late."""
_ELSEWHERE = _RUN[:-1]  # what another process evaluates: half of those that compute
_CAVEATS = (
    "Retrieval evaluates encoders, not chat models.",
    "Mini editions are synthetic: their scores say nothing about the published benchmarks.",
)


def evaluate_embedded(bench: Workbench) -> list[BenchError]:
    """Build every suite's mini edition, and evaluate the models that come with the project.

    One suite comes first, so that there are numbers to read while the others are built. Another
    process takes half of the work.

    Returns:
        Errors: a suite that cannot be built, or a model that cannot be evaluated, does not stop
        the others.
    """
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // 2)))
    failures: list[BenchError] = []
    names = bench.catalog.evaluable.names
    later = [name for name in names if name not in _SOON]
    steps = ((later, DEMO_MODELS[:1]), (later, _ELSEWHERE), (_SOON[1:], _ELSEWHERE))
    with evaluated_meanwhile(bench.settings.home, steps) as wait:
        for model in DEMO_MODELS if _build(bench, [_FIRST], failures) else ():
            _evaluate(bench, [_FIRST], model, failures)
        built = _build(bench, [name for name in names if name in _SOON[1:]], failures)
        wait()
        built += _build(bench, later, failures)
        for model in DEMO_MODELS:
            if model not in _RUN:
                _evaluate(bench, built, model, failures)
        for task in bench.catalog.tasks:
            if task.asked_of == "encoder" and {task.name, task.suite} & {*built}:
                _evaluate(bench, [task.name], "random", failures)
        for _ in steps[1:]:
            wait()
    for model in _RUN:
        _evaluate(bench, built, model, failures)
    bench.refresh_leaderboard()
    return failures


def _build(bench: Workbench, suites: Sequence[str], failures: list[BenchError]) -> list[str]:
    """Build questions; returns the suites and tasks that have some."""
    built: list[str] = []
    for suite in suites:
        with _collected_errors(failures):
            found, missing = build_questions(bench, suite)
            built += found
            failures += missing
    return built


def _evaluate(
    bench: Workbench, suites: Sequence[str], model: str, failures: list[BenchError]
) -> None:
    with _collected_errors(failures):
        if suites:
            bench.evaluate(suites, model)
        if _FIRST in suites:
            _print_first(bench, model)


def _print_first(bench: Workbench, model: str) -> None:
    for task in bench.catalog.tasks_of(_FIRST):
        for row in bench.metrics(task.name, model):
            if (row.metric, row.category) == (task.primary_metric, "all"):
                print_message(f"{model}: {task.name} {row.metric} {row.value:.3f}")


@contextmanager
def _collected_errors(failures: list[BenchError]) -> Generator[None]:
    """Collect an error and continue."""
    try:
        yield
    except BenchError as why:
        failures.append(why)


def print_summary(bench: Workbench) -> None:
    """Print the matrix, the path of the report, three next commands, and the verdict on the run."""
    rows = bench.rows("leaderboard")
    print_matrices(
        rows, chance_levels(bench), unvalidated_judge_signatures(bench, rows), published=False
    )
    print_result("")
    for sentence in _CAVEATS:
        print_result(sentence)
    page = make_report(bench.settings, bench.tables, bench.catalog, rows, print_message)
    print_result(f"\nThe report: {page}")
    print_result(NEXT_STEPS)
    print_result("")
    for sentence in run_verdicts(bench.tables, bench.catalog.tasks, rows):
        print_result(sentence)
