"""``bench audit``: benchmarks, judges, position bias and statistical power."""

from collections.abc import Mapping
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bench_assets.cli.app.command_context import open_home
from bench_assets.cli.app.options import JsonOption, ModelsOption, SourceOption, SuiteName
from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.metric_text import format_p
from bench_assets.workspace.console.output import Cell, print_message, print_rows
from bench_assets.workspace.materialization.model_arguments import save_models

if TYPE_CHECKING:
    from bench_assets.audit.robustness.position_bias import OrderFigure

app = typer.Typer(
    name="audit",
    no_args_is_help=True,
    help="Audit benchmarks and judges: keys, images, contamination, shortcuts, position bias.",
)


@app.command("run")
def audit(
    tasks: Annotated[
        list[str] | None, typer.Argument(metavar="[TASK]...", help="Suites or tasks. Default: all.")
    ] = None,
    training: Annotated[
        list[Path] | None,
        typer.Option(
            help="Training data to test for contamination: a folder, or a file of digests or texts;"
            " repeatable. Default: bench.toml's."
        ),
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Audit benchmarks: answer keys, images, duplicates, contamination. Most suspect items first.

    Exit code 1: a check failed, or a task could not be audited.

    Example: bench audit run blink
    """
    from bench_assets.audit.operations import audit_tasks
    from bench_assets.audit.terminal import print_audit

    with open_home(training=training or ()) as bench:
        rows, failures = audit_tasks(bench, tasks or ())
        if as_json:
            print_rows(rows, as_json=True)
        else:
            print_audit(rows)
        for failure in failures:
            print_message(f"error: {failure}")
    raise typer.Exit(bool(failures) or not all(row.passed for row in rows))


def _format_n(row: "OrderFigure") -> str:
    return f"{row.n} ({row.n_unscored} unscored)" if row.n_unscored else str(row.n)


_PERMUTATION_COLUMNS: Mapping[str, Cell] = {
    "task": lambda row: row.task,
    "model": lambda row: row.model,
    "figure": lambda row: row.figure,
    "value": lambda row: f"{row.value:.3f}",
    "95 % interval": lambda row: f"{row.low:.3f} to {row.high:.3f}",
    "expected": lambda row: "" if isnan(row.expected) else f"{row.expected:.3f}",
    "p": lambda row: "" if isnan(row.p) else format_p(row.p),
    "n": _format_n,
}


OrdersOption = Annotated[
    int,
    typer.Option(
        "--orders", min=0, help="Orders per question, drawn with --seed; 0: one per option."
    ),
]


@app.command("permute-options")
def permute_options(
    task: SuiteName,
    model: ModelsOption,
    n_orders: OrdersOption = 0,
    seed: Annotated[int, typer.Option(help="Seed of the orders.")] = 0,
    limit: Annotated[
        int, typer.Option(min=0, help="At most N questions, stratified by category; 0: all.")
    ] = 0,
    source: SourceOption = "",
    *,
    as_json: JsonOption = False,
) -> None:
    """Test for position bias: ask every question with its options in several orders.

    Example: bench audit permute-options blink --model my-model
    """
    if seed and not n_orders:
        raise typer.BadParameter("--seed needs --orders")
    with open_home(task, source, models=model, rule="stated") as bench:
        from bench_assets.asset_factory.question_subset import QuestionSubset
        from bench_assets.audit.permutation_runs import evaluate_permutations, permute_questions
        from bench_assets.workspace.materialization.opening import check_names

        if n_orders == 1:
            raise SettingsError(
                "--orders 1: expected at least 2, or 0 for one per option. For one order, use bench"
                " evaluate"
            )
        names = [resolved.name for resolved in bench.resolved]
        check_names(bench, [task], names)
        save_models(bench.resolved, bench.settings)
        bench.refresh_questions(task)
        permuted_tasks = permute_questions(
            bench,
            bench.catalog.tasks_of(task),
            QuestionSubset(limit=limit),
            orders=n_orders,
            seed=seed,
        )
        rows = []
        for permuted_task, permuted in permuted_tasks:
            _print_permutation_summary(permuted_task.name, permuted.left_out, len(permuted.ordered))
            for name in names:
                rows += evaluate_permutations(bench, permuted_task, name, permuted)
        print_rows(rows, as_json=as_json, columns=_PERMUTATION_COLUMNS)


def _print_permutation_summary(task: str, left_out: Mapping[str, int], n_prompts: int) -> None:
    exclusions = "".join(f"; {n} left out: {reason}" for reason, n in left_out.items())
    print_message(
        f"{task}: {n_prompts} prompts in all orders; the first order is that of main{exclusions}"
    )


@app.command()
def power(
    suite: SuiteName,
    difference: Annotated[
        float | None, typer.Option(min=0.0001, max=1.0, help="Difference to detect, such as 0.02.")
    ] = None,
    baseline: Annotated[
        float,
        typer.Option(
            min=0.01, max=0.99, help="Assumed score, with fewer than two evaluated models."
        ),
    ] = 0.5,
    *,
    as_json: JsonOption = False,
) -> None:
    """Compute a task's smallest detectable difference, and the questions a given one needs.

    Example: bench audit power codis --difference 0.02
    """
    from bench_assets.workspace.evaluate.power import estimate_power

    with open_home() as bench:
        print_rows(estimate_power(bench, suite, difference, baseline), as_json=as_json)
