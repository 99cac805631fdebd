"""Options and arguments that several commands share."""

from typing import Annotated

import typer

SuiteName = Annotated[str, typer.Argument(help="Suite or task, such as codis.")]
SourceOption = Annotated[
    str,
    typer.Option(
        metavar="PATH",
        help="Folder of the suite's files, hf:... or https://...; \"default\": bench.toml's. Later"
        " commands use the source of the last evaluation.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON lines.")]
_MODEL_OPTION = typer.Option(
    "--model",
    help="Model: a name of `bench models list`, a checkpoint folder, hf:org/name or http://...#name;"
    " repeatable.",
)
ModelsOption = Annotated[list[str], _MODEL_OPTION]
OptionalModelsOption = Annotated[list[str] | None, _MODEL_OPTION]
ConditionOption = Annotated[str, typer.Option(help="Condition: main or an ablation.")]
