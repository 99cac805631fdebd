"""What several commands of ``bench`` are told in the same words."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from bench_assets.bench.completion import (
    complete_conditions,
    complete_judges,
    complete_models,
    complete_readings,
    complete_suites,
)

Complete = Callable[[str], list[str]]


def named(about: str, complete: Complete, *flags: str) -> Any:  # noqa: ANN401  (as typer has it)
    """An option whose value has a name that a shell can complete."""
    return typer.Option(*flags, help=about, autocompletion=complete)


SuiteName = Annotated[
    str,
    typer.Argument(help="A suite or task, such as codis.", autocompletion=complete_suites),
]
SuitesOption = Annotated[
    list[str] | None,
    named("A suite or task; may be repeated; all without it.", complete_suites, "--suite"),
]
SourceOption = Annotated[
    Path | None, typer.Option(help="Folder with the suite's files, instead of bench.toml's.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON lines instead of a table.")]
JudgeOption = Annotated[str, named('A model of bench.toml, or "rules".', complete_judges)]
ReadingOption = Annotated[str, named("How replies become points.", complete_readings)]
ModelsOption = Annotated[
    list[str],
    named(
        "A model by its name, or hf:org/name, a checkpoint's folder, http://...#name; may be"
        " repeated.",
        complete_models,
        "--model",
    ),
]
ConditionOption = Annotated[str, named("main or an ablation.", complete_conditions)]
ConditionsOption = Annotated[
    list[str] | None,
    named("main or an ablation; may be repeated.", complete_conditions, "--condition"),
]
