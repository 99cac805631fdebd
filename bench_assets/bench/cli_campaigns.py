"""Commands of ``bench people``: how far forms are, asking them, taking answers elsewhere."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from bench_assets.bench.command import opened
from bench_assets.bench.options import JsonOption
from bench_assets.bench.printing import print_rows, tell

app = typer.Typer()

FormName = Annotated[
    str, typer.Argument(help="Such as codis/votes; without it, all that are asked.")
]
OneForm = Annotated[str, typer.Argument(help="Such as codis/votes.")]


@app.command()
def forms(*, as_json: JsonOption = False) -> None:
    """List what people can be asked, and what of it bench.toml asks."""
    from bench_assets.bench.campaigns import form_lines

    with opened() as bench:
        print_rows(form_lines(bench), as_json=as_json)


@app.command()
def ask(form: FormName = "") -> None:
    """Ask what is to be asked now, take over what was answered, and say how far it is."""
    from bench_assets.bench.campaigns import ask as ask_forms
    from bench_assets.bench.campaigns import progress

    with opened(form) as bench:
        ask_forms(bench, form)
        print_rows(progress(bench, form, datetime.now(UTC)), as_json=False)


@app.command()
def status(form: FormName = "", *, as_json: JsonOption = False) -> None:
    """Say of each form what is done, in work and open, by whom, and when it will be finished."""
    from bench_assets.bench.campaigns import progress

    with opened(form) as bench:
        print_rows(progress(bench, form, datetime.now(UTC)), as_json=as_json)


@app.command()
def quality(form: FormName = "", *, as_json: JsonOption = False) -> None:
    """Say how each person answers: how much, how fast, how like the others, how attentively."""
    from bench_assets.bench.campaigns import quality as people_quality

    with opened(form) as bench:
        print_rows(people_quality(bench, form), as_json=as_json)


@app.command()
def queue(form: FormName = "", *, as_json: JsonOption = False) -> None:
    """List what a second round should ask: what people differ on, and what lacks answers."""
    from bench_assets.bench.campaigns import queue as second_round

    with opened(form) as bench:
        print_rows(second_round(bench, form), as_json=as_json)


@app.command()
def export(
    form: OneForm,
    folder: Annotated[Path, typer.Argument(help="New or empty.")],
) -> None:
    """Write a form, its items, answers and pictures, as files for another tool."""
    from bench_assets.bench.campaigns import export as write

    with opened(form) as bench:
        for file in write(bench, form, folder):
            tell(str(file))
