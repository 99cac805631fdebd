"""``bench claims`` and ``bench expectations``."""

from math import isnan
from typing import TYPE_CHECKING, Annotated

import typer

from bench_assets.cli.app.command_context import open_home
from bench_assets.cli.app.completion import complete_suites
from bench_assets.cli.app.options import JsonOption
from bench_assets.workspace.console.output import print_message, print_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench_assets.core.schema.published_numbers import ClaimResult
    from bench_assets.workspace.console.output import Cell

app = typer.Typer()


@app.command()
def claims(
    suite: Annotated[
        str, typer.Argument(help="One suite's; of all without.", autocompletion=complete_suites)
    ] = "",
    *,
    models: Annotated[
        bool, typer.Option("--models", help="Also of each model, not only of all together.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Try what the papers say: on their own numbers, and on what was measured here."""
    from bench_assets.defs.tables.claims import tried_claims

    with open_home() as bench:
        suites = [bench.catalog.suite(suite)] if suite else bench.catalog.suites
        claiming = [one for one in suites if one.claims]
        if not claiming:
            print_message("no claims: its paper says nothing that this project can try")
        rows = [row for one in claiming for row in tried_claims(one, bench.tables, bench.settings)]
        if not as_json and not models:
            rows = [row for row in rows if not row.model]
        print_rows(rows, as_json=as_json, columns=_columns(with_models=models))


def _columns(*, with_models: bool) -> "Mapping[str, Cell]":
    columns: dict[str, Cell] = {
        "suite": lambda row: row.suite,
        "claim": lambda row: row.claim,
        "on": lambda row: row.on,
        "model": lambda row: row.model or "all",
        "verdict": lambda row: row.verdict,
        "by": lambda row: "" if isnan(row.value) else f"{row.value:+.3f}",
        "95 % interval": _interval,
        "p": lambda row: "" if row.p is None else f"{row.p:.4f}",
        "n": lambda row: str(row.n or ""),
        "why": lambda row: _cut(row.why),
    }
    return {name: cell for name, cell in columns.items() if with_models or name != "model"}


def _interval(row: "ClaimResult") -> str:
    return "" if isnan(row.low) else f"{row.low:+.3f} to {row.high:+.3f}"


def _cut(text: str, longest: int = 100) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


@app.command()
def expectations(*, as_json: JsonOption = False) -> None:
    """Try what is expected of every table with Great Expectations; the report shows it."""
    import dagster as dg

    with open_home() as bench:
        bench.materialize(dg.AssetSelection.assets("expectations"))
        rows = bench.rows("expectations")
        failed = [row for row in rows if not row.passed]
        if as_json or failed:
            print_rows(rows if as_json else failed, as_json=as_json)
        tables = len({row.table for row in rows})
        print_message(
            f"{tables} tables: {len(rows) - len(failed)} of {len(rows)} expectations hold"
        )
    raise typer.Exit(bool(failed))
