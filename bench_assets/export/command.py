"""``bench export``: results in other projects' formats."""

from pathlib import Path
from typing import Annotated

import typer

from bench_assets.cli.app.command_context import open_home
from bench_assets.cli.app.options import SourceOption
from bench_assets.workspace.console.output import print_message, print_result

app = typer.Typer()


FormatName = Annotated[
    str,
    typer.Argument(
        metavar="FORMAT",
        help="csv, parquet, jsonl, lm-eval, vlmeval, mlflow, wandb"
        " or blink-submission (docs/exports.md).",
    ),
]
ModelsOption = Annotated[
    list[str] | None, typer.Option("--model", help="Model; repeatable. Default: all.")
]
SuitesOption = Annotated[
    list[str] | None,
    typer.Option("--suite", "--task", help="Suite or task; repeatable. Default: all."),
]
ConditionsOption = Annotated[
    list[str] | None, typer.Option("--condition", help="Condition; repeatable. Default: all.")
]
EditionsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--edition", help="Edition: published, own, built or mini; repeatable. Default: all."
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        help="Output folder. Default: export/FORMAT in the home; for blink-submission, export."
    ),
]
ToOption = Annotated[
    str, typer.Option(help="Target: for mlflow sqlite:///... or http://...; for wandb online.")
]


@app.command()
def export(
    form: FormatName,
    models: ModelsOption = None,
    suites: SuitesOption = None,
    conditions: ConditionsOption = None,
    editions: EditionsOption = None,
    source: SourceOption = "",
    out: OutOption = None,
    to: ToOption = "",
) -> None:
    """Export results in the format of another project.

    Example: bench export csv --suite codis
    """
    from bench_assets.export.operations import ExportRequest, export_results

    request = ExportRequest(
        form=form,
        suites=tuple(suites or ()),
        models=tuple(models or ()),
        conditions=tuple(conditions or ()),
        editions=tuple(editions or ()),
        out=out,
        to=to,
    )
    if source and len(request.suites) != 1:
        raise typer.BadParameter("--source needs exactly one --suite")
    with open_home(request.suites[0] if source else "", source) as bench:
        exported = export_results(bench, request)
        for line in exported.left_out:
            print_message(f"left out: {line}")
        for stale_number in exported.stale:
            print_message(str(stale_number))
        for output in exported.outputs:
            print_result(str(output))
