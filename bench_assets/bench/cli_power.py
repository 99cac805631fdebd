"""The command ``bench power``."""

from typing import Annotated

import typer

from bench_assets.bench.command import opened
from bench_assets.bench.options import JsonOption, SuiteName
from bench_assets.bench.printing import print_rows

app = typer.Typer()


@app.command()
def power(
    suite: SuiteName,
    difference: Annotated[
        float | None,
        typer.Option(min=0.0001, max=1.0, help="That should be shown, such as 0.02."),
    ] = None,
    baseline: Annotated[
        float, typer.Option(min=0.01, max=0.99, help="Where no model was measured: how good it is.")
    ] = 0.5,
    *,
    as_json: JsonOption = False,
) -> None:
    """Say what difference a task's questions can show, and how many a wanted one needs."""
    from bench_assets.bench.power import what_shows

    with opened() as bench:
        print_rows(what_shows(bench, suite, difference, baseline), as_json=as_json)
