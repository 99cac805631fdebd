"""The command ``bench soundness``: is a benchmark itself sound?"""

from pathlib import Path
from typing import Annotated

import typer

from bench_assets.bench.command import opened
from bench_assets.bench.completion import complete_suites
from bench_assets.bench.options import JsonOption
from bench_assets.bench.printing import print_rows, say

app = typer.Typer()


@app.command()
def soundness(
    tasks: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TASK]...", help="Suites or tasks; all.", autocompletion=complete_suites
        ),
    ] = None,
    training: Annotated[
        list[Path] | None,
        typer.Option(
            help="A folder, a file of digests or one of texts that models were trained on, instead"
            " of bench.toml's; may be repeated."
        ),
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Examine the benchmarks themselves: keys, pictures, repetitions, leaks; what is suspect first.

    Ends with 1 if an examination did not pass, or a task could not be examined.
    """
    from bench_assets.bench.examining import examine_each
    from bench_assets.bench.printing_soundness import print_examined

    with opened(training=training or ()) as bench:
        rows, failures = examine_each(bench, tasks or ())
        if as_json:
            print_rows(rows, as_json=True)
        else:
            print_examined(rows)
        for why in failures:
            say(f"error: {why}")
    raise typer.Exit(bool(failures) or not all(row.passed for row in rows))
