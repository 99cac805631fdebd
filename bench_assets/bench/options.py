"""What several commands of ``bench`` are told in the same words."""

from pathlib import Path
from typing import Annotated

import typer

SuiteName = Annotated[str, typer.Argument(help="A suite or task, such as codis.")]
SourceOption = Annotated[
    Path | None, typer.Option(help="Folder with the suite's files, instead of bench.toml's.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON lines instead of a table.")]
JudgeOption = Annotated[str, typer.Option(help='A model of bench.toml, or "rules".')]
ReadingOption = Annotated[str, typer.Option(help="How replies become points.")]
