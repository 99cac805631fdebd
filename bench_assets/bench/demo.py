"""The main job, and what it says at its end: what the numbers show, and what to do next."""

from collections.abc import Iterator

from bench_assets.bench.matrix import curves
from bench_assets.bench.printing import say, tell
from bench_assets.bench.printing_matrix import print_matrices
from bench_assets.bench.standings import chances
from bench_assets.bench.workbench import Workbench
from bench_assets.report.building import make_report
from resources.settings.model_specs import DEMO_SUITES, EMBEDDED_MODELS

NEXT = """
Next:
  bench report --serve                                  look at every question, reply and picture
  bench evaluate codis --model path/to/checkpoint       your own model; or http://127.0.0.1:8000/v1#name
  bench ui                                              the same graph in the Dagster UI"""


def evaluate_embedded(bench: Workbench) -> None:
    """Build every suite's mini edition, and evaluate the models that come with the project.

    Raises:
        BenchError: If a suite cannot be built, or a model not be asked.
    """
    suites = bench.catalog.names
    for suite in suites:
        bench.refresh_questions(suite)
    for model in EMBEDDED_MODELS:
        bench.evaluate(DEMO_SUITES.get(model, suites), model)
    for task in bench.catalog.tasks:
        if task.asked_of == "encoder":
            bench.evaluate([task.name], "random")
    bench.refresh_leaderboard()


def tell_of_it(bench: Workbench) -> None:
    """Print the matrix, what it shows, where the report is, and three commands to go on with."""
    rows = bench.rows("leaderboard")
    print_matrices(rows, chances(bench), published=False)
    tell("")
    for sentence in (*_reasons(), *curves(rows)):
        tell(sentence)
    page = make_report(bench.settings, bench.tables, bench.catalog, rows, say)
    say(f"\nThe report: {page}")
    say(NEXT)


def _reasons() -> Iterator[str]:
    for model, suites in DEMO_SUITES.items():
        if model in EMBEDDED_MODELS:
            yield f"{model} is asked {', '.join(suites)} only, and has no number elsewhere."
    yield "Retrieval is asked of encoders, not of models that talk."
    yield "Mini editions are drawn: their numbers say nothing about the published benchmarks."
