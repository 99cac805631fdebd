"""What several commands of ``bench`` are told in the same words."""

from pathlib import Path
from typing import Annotated

import typer

from bench_assets.bench.completion import (
    complete_conditions,
    complete_judges,
    complete_models,
    complete_readings,
    complete_suites,
)

SuiteName = Annotated[
    str,
    typer.Argument(help="A suite or task, such as codis.", autocompletion=complete_suites),
]
SuitesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--suite",
        help="A suite or task; may be repeated; all without it.",
        autocompletion=complete_suites,
    ),
]
SourceOption = Annotated[
    Path | None, typer.Option(help="Folder with the suite's files, instead of bench.toml's.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON lines instead of a table.")]
JudgeOption = Annotated[
    str,
    typer.Option(help='A model of bench.toml, or "rules".', autocompletion=complete_judges),
]
ReadingOption = Annotated[
    str, typer.Option(help="How replies become points.", autocompletion=complete_readings)
]
ModelsOption = Annotated[
    list[str],
    typer.Option(
        "--model",
        help="A model by its name, or hf:org/name, a checkpoint's folder, http://...#name; may be"
        " repeated.",
        autocompletion=complete_models,
    ),
]
ConditionsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--condition",
        help="main or an ablation; may be repeated.",
        autocompletion=complete_conditions,
    ),
]
