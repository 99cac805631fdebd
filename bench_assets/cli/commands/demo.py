"""The demo and its closing summary."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager

from bench_assets.cli.output.leaderboard import print_matrices
from bench_assets.comparison.runs import run_sentences
from bench_assets.core.schema.errors import BenchError
from bench_assets.report.building import make_report
from bench_assets.workspace.console.output import print_message, print_result
from bench_assets.workspace.inspect.leaderboard import (
    chance_levels,
    unvalidated_judge_signatures,
)
from bench_assets.workspace.materialization.backfill import build_questions
from bench_assets.workspace.materialization.workbench import Workbench
from resources.config.sections.models import DEMO_SUITES, EMBEDDED_MODELS

NEXT_STEPS = """
Next:
  bench report --serve                                  every question, response and image
  bench evaluate codis --model path/to/checkpoint       your own model; or http://127.0.0.1:8000/v1#name
  bench ui                                              the same graph in the Dagster UI"""


def evaluate_embedded(bench: Workbench) -> list[BenchError]:
    """Build every suite's mini edition, and evaluate the models that come with the project.

    Returns:
        Errors: a suite that cannot be built, or a model that cannot be evaluated, does not stop
        the others.
    """
    failures: list[BenchError] = []
    built: list[str] = []
    for suite in bench.catalog.evaluable.names:
        with _collected_errors(failures):
            found, missing = build_questions(bench, suite)
            built += found
            failures += missing
    for model in EMBEDDED_MODELS:
        wanted = DEMO_SUITES.get(model, bench.catalog.evaluable.names)
        if asked := [name for name in built if name.partition("/")[0] in wanted]:
            with _collected_errors(failures):
                bench.evaluate(asked, model)
    for task in bench.catalog.tasks:
        if task.asked_of == "encoder" and {task.name, task.suite} & {*built}:
            with _collected_errors(failures):
                bench.evaluate([task.name], "random")
    bench.refresh_leaderboard()
    return failures


@contextmanager
def _collected_errors(failures: list[BenchError]) -> Generator[None]:
    """Collect an error and continue."""
    try:
        yield
    except BenchError as why:
        failures.append(why)


def print_summary(bench: Workbench) -> None:
    """Print the matrix, its conclusions, the path of the report, and three next commands."""
    rows = bench.rows("leaderboard")
    print_matrices(
        rows, chance_levels(bench), unvalidated_judge_signatures(bench, rows), published=False
    )
    print_result("")
    for sentence in (*_caveats(), *run_sentences(bench.tables, bench.catalog.tasks)):
        print_result(sentence)
    page = make_report(bench.settings, bench.tables, bench.catalog, rows, print_message)
    print_result(f"\nThe report: {page}")
    print_result(NEXT_STEPS)


def _caveats() -> Iterator[str]:
    for model, suites in DEMO_SUITES.items():
        if model in EMBEDDED_MODELS:
            yield f"{model} is evaluated on {', '.join(suites)} only."
    yield "Retrieval evaluates encoders, not chat models."
    yield "Mini editions are synthetic: their scores say nothing about the published benchmarks."
