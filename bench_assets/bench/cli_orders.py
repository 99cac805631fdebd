"""The command ``bench orders``: does an answer go by the place of the options?"""

from collections.abc import Mapping
from math import isnan
from typing import Annotated

import typer

from bench_assets.bench.asked import keep, opened_for
from bench_assets.bench.options import JsonOption, ModelsOption, SourceOption, SuiteName
from bench_assets.bench.printing import Cell, print_rows, say
from bench_assets.core.errors import SettingsError

app = typer.Typer()

_COLUMNS: Mapping[str, Cell] = {
    "task": lambda row: row.task,
    "model": lambda row: row.model,
    "figure": lambda row: row.figure,
    "value": lambda row: f"{row.value:.3f}",
    "95 % interval": lambda row: f"{row.low:.3f} to {row.high:.3f}",
    "expected": lambda row: "" if isnan(row.expected) else f"{row.expected:.3f}",
    "p": lambda row: "" if isnan(row.p) else f"{row.p:.2g}",
    "n": lambda row: f"{row.n}{f' ({row.n_unscored} unscored)' if row.n_unscored else ''}",
}


@app.command()
def orders(
    task: SuiteName,
    model: ModelsOption,
    n_orders: Annotated[
        int,
        typer.Option(
            "--orders", min=0, help="Orders of each question, drawn; 0: one for each option."
        ),
    ] = 0,
    seed: Annotated[int, typer.Option(help="Draws the orders.")] = 0,
    limit: Annotated[
        int, typer.Option(min=0, help="At most so many questions, drawn by category; 0: all.")
    ] = 0,
    source: SourceOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Ask every question with its options in several orders: is it right in all of them?

    The figures stay in the home's orders.jsonl, and go into no table of results.
    """
    with opened_for(model, task, source) as (bench, asked):
        from bench_assets.bench.names import check_names
        from bench_assets.bench.order_asking import Orders, ask_in_orders, questions_in_orders
        from bench_assets.bench.part import Part

        if n_orders == 1:
            raise SettingsError("--orders 1: that is bench evaluate; it takes 2, or 0 for all")
        check_names(bench, [task], asked.names)
        keep(asked, bench.settings)
        wanted = Orders(orders=n_orders, seed=seed, part=Part(limit=limit))
        bench.refresh_questions(task)
        rows = []
        for one, made in questions_in_orders(bench, bench.catalog.tasks_of(task), wanted):
            _tell(one.name, made.left_out, len(made.ordered))
            for name in asked.names:
                rows += ask_in_orders(bench, one, name, made, wanted)
        print_rows(rows, as_json=as_json, columns=_COLUMNS)


def _tell(task: str, left_out: Mapping[str, int], n: int) -> None:
    why = "".join(f"; {count} left out: {reason}" for reason, count in left_out.items())
    say(f"{task}: {n} prompts in all orders, those of the first are as in main{why}")
