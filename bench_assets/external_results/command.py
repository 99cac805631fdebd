"""``bench home import``: results of other harnesses."""

from pathlib import Path
from typing import Annotated

import typer

from bench_assets.cli.app.command_context import open_home
from bench_assets.cli.app.options import JsonOption
from bench_assets.workspace.console.output import print_message, print_results

app = typer.Typer()


@app.command("import")
def import_results(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="A log of Inspect AI (.eval, .json), samples of lmms-eval (*_samples_*.jsonl,"
            " *_results.json) or lm-evaluation-harness (samples_*.jsonl, results_*.json), a review"
            " of EvalScope (reviews/MODEL/*.jsonl), or a file of VLMEvalKit (MODEL_DATASET.xlsx).",
        ),
    ],
    name: Annotated[str, typer.Option(help="Task name here. Default: harness and task.")] = "",
    model: Annotated[str, typer.Option(help="Model name here. Default: as in the file.")] = "",
    *,
    as_json: JsonOption = False,
) -> None:
    """Import results of another harness into the leaderboard, the report and the audit.

    `bench import FILE` is the same.

    Example: bench home import logs/2026-11-24_mmmu.eval
    """
    from bench_assets.comparison.results import HomeResults
    from bench_assets.external_results.storing import read_evaluations, store_evaluations
    from bench_resources.images.store import open_image_store

    with open_home(rule="bench.toml") as bench:
        images = open_image_store(bench.settings)
        evaluations = [
            evaluation
            for file in files
            for evaluation in read_evaluations(file, images, suite=name, model=model)
        ]
        store_evaluations(bench.settings.home, bench.tables, bench.catalog, evaluations)
        rows = [row for evaluation in evaluations for row in evaluation.metrics]
        tasks = {evaluation.task.name: evaluation.task for evaluation in evaluations}
        results = HomeResults(bench.settings, bench.tables, tasks)
        print_results(results.of(rows), rows, as_json=as_json, all_metrics=False)
        for evaluation in evaluations:
            partial_note = f", {evaluation.partial}" if evaluation.partial else ""
            print_message(
                f"{evaluation.task.name}: {evaluation.model},"
                f" imported from {evaluation.task.measured_by}{partial_note}."
                f" See bench leaderboard, bench report and bench audit run {evaluation.task.name}"
            )
