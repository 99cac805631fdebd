"""The demo and its closing summary."""

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from bench_assets.cli.output.leaderboard import print_matrices
from bench_assets.comparison.runs import run_verdicts
from bench_assets.core.schema.errors import BenchError
from bench_assets.report.building import make_report, parts
from bench_assets.workspace.console.output import print_message, print_result, print_sentence
from bench_assets.workspace.evaluate.second_process import background_evaluation
from bench_assets.workspace.inspect.leaderboard import chance_levels
from bench_assets.workspace.materialization.backfill import build_questions
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.sections.models import DEMO_MODELS, EMBEDDED_ENCODERS

NEXT_STEPS = """
Next:
  bench report --serve --open                      questions, responses, images
  bench evaluate codis --model path/to/checkpoint  or http://127.0.0.1:8000/v1
  bench ui                                         the graph in the Dagster UI"""


DEMO_STEPS = (
    "builds a mini edition of each benchmark, evaluates the embedded models, and writes the report;"
    " two minutes on two cores, first numbers within one"
)
_FIRST_SUITE = "codis"  # a suite that is built within seconds
_BACKGROUND_SUITES = ("cogbench", "journeybench")
"""Suites for the second process: half of the work, and all that encode sentences."""
_ENCODERS = ("random", *EMBEDDED_ENCODERS)
_CAVEAT = "Mini editions are synthetic: scores say nothing about the published benchmarks."


def evaluate_embedded(bench: Workbench) -> list[BenchError]:
    """Build every suite's mini edition, evaluate the embedded models, and rank them.

    One suite comes first, so that numbers appear early. With two cores, a second process takes half
    of the suites, without their encoder tasks; this one evaluates what it did not. Each process has
    half of the cores. It evaluates the models in order, because a checkpoint is compared with the
    one before, and would be evaluated again if that one came later.

    Returns:
        Errors: a suite that cannot be built, or a model that cannot be evaluated, does not stop
        the others.
    """
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // 2)))
    failures: list[BenchError] = []
    names = bench.catalog.evaluable.names
    background_suites = [name for name in names if name in _BACKGROUND_SUITES]
    remaining_suites = [name for name in names if name not in (_FIRST_SUITE, *background_suites)]
    encoder_tasks = [task for task in bench.catalog.tasks if task.asked_of == "encoder"]
    with background_evaluation(bench.settings.home, background_suites, DEMO_MODELS) as wait:
        for suites in ([_FIRST_SUITE], remaining_suites):
            _build_and_evaluate(bench, suites, DEMO_MODELS, failures)
        for task in encoder_tasks:
            _build_and_evaluate(bench, [task.name], _ENCODERS, failures)
        background_succeeded = wait()
    if not background_succeeded:
        _build_and_evaluate(bench, background_suites, DEMO_MODELS, failures)
    bench.refresh_leaderboard()
    return failures


def _build_and_evaluate(
    bench: Workbench, suites: Sequence[str], models: Sequence[str], failures: list[BenchError]
) -> None:
    """Build questions, and evaluate the models on those built; adds errors to ``failures``."""
    names: list[str] = []
    for suite in suites:
        with _collected_errors(failures):
            names_with_questions, errors = build_questions(bench, suite)
            names += names_with_questions
            failures += errors
    if not names:
        return
    for model in models:
        with _collected_errors(failures):
            bench.evaluate(names, model)
            if _FIRST_SUITE in names:
                _print_first_scores(bench, model)


def _print_first_scores(bench: Workbench, model: str) -> None:
    for task in bench.catalog.tasks_of(_FIRST_SUITE):
        for row in bench.metrics(task.name, model):
            if (row.metric, row.category) == (task.primary_metric, "all"):
                print_message(f"{model}: {task.name} {row.metric} {row.value:.3f}")


@contextmanager
def _collected_errors(failures: list[BenchError]) -> Generator[None]:
    """Collect an error instead of raising it; duplicates are dropped."""
    try:
        yield
    except BenchError as error:
        if str(error) not in map(str, failures):
            failures.append(error)


def print_summary(bench: Workbench) -> None:
    """Print the leaderboard, its verdicts and three next commands; make the report."""
    rows = bench.rows("leaderboard")
    print_matrices(rows, chance_levels(bench), published=False, only_learnt=True)
    print_result(f"{_CAVEAT}\n")
    for sentence in run_verdicts(bench.tables, bench.catalog.tasks, rows):
        print_sentence(sentence)
    report_parts = parts(rows, bench.catalog, bench.settings)
    page = make_report(bench.settings, bench.tables, bench.catalog, report_parts, print_message)
    print_result(f"\nThe report: {page}")
    print_result(NEXT_STEPS)
