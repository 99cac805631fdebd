"""Commands of ``bench`` that look into the home folder, and bring something into it."""

import sys
from shlex import quote
from typing import Annotated

import typer

from bench_assets.cli.app.command_context import error_reporting, open_home
from bench_assets.cli.app.completion import complete_models, complete_suites, complete_tables
from bench_assets.cli.app.options import JsonOption, SourceOption, SuiteName, named_option
from bench_assets.workspace.console.output import print_message, print_result, print_rows

app = typer.Typer()


@app.command()
def table(
    name: Annotated[
        str,
        typer.Argument(help="As `bench tables` has it.", autocompletion=complete_tables),
    ],
    model: Annotated[str, named_option("One model's part of the table.", complete_models)] = "",
    source: SourceOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Print any table of the graph."""
    from bench_assets.workspace.inspect.leaderboard import present_leaderboard

    with open_home(name.partition("/")[0] if source else "", source) as bench:
        rows = present_leaderboard(bench) if name == "leaderboard" else bench.rows(name, model)
        print_rows(rows, as_json=as_json)


@app.command()
def tables(
    below: Annotated[
        str,
        typer.Argument(help="Only those of a suite or task.", autocompletion=complete_suites),
    ] = "",
    *,
    as_json: JsonOption = False,
) -> None:
    """List the tables of the graph: what one row is, and of how many models there is one."""
    from bench_assets.workspace.inspect.tables import list_tables

    with open_home() as bench:
        print_rows(list_tables(bench, below), as_json=as_json)


@app.command()
def studies(*, as_json: JsonOption = False) -> None:
    """List the papers' other tables, and the command that makes each."""
    from bench_assets.workspace.inspect.tables import list_paper_tables as every

    with open_home() as bench:
        print_rows(every(bench), as_json=as_json)


@app.command()
def study(
    suite: SuiteName,
    name: Annotated[str, typer.Argument(help="A table that `bench studies` lists.")],
    model: Annotated[
        str, named_option("A model of bench.toml, for a table of one.", complete_models)
    ] = "",
    source: SourceOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Make one of the papers' other tables with all that it is made of, and print it."""
    from bench_assets.workspace.inspect.tables import make_paper_table

    with open_home(suite, source) as bench:
        print_rows(bench.rows(make_paper_table(bench, suite, name, model), model), as_json=as_json)


@app.command()
def fetch(
    suite: SuiteName,
    address: Annotated[
        str,
        typer.Argument(help="hf:owner/name@revision or https://...#sha256=..., if not its own."),
    ] = "",
) -> None:
    """Bring a suite's release into the home folder: pinned, resumed after a kill, checked."""
    from bench_assets.workspace.maintain.downloads import fetch_release

    with open_home(suite) as bench:
        whole = bench.catalog.suite(suite)
        release, folder = fetch_release(bench.settings, whole, address, bar=sys.stderr.isatty())
        print_message(f"{release}\nlies in {folder}; to use it, in {bench.settings.file}:")
        print_result(f'[sources]\n{whole.name} = "{release}"')


@app.command()
def verify(
    *,
    responses: Annotated[
        bool,
        typer.Option(
            "--responses", help="Drop what an older version stored and is not certainly a response."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Read all that lies in the home folder: what is whole, and which command makes the rest."""
    from bench_assets.workspace.maintain.verification import drop_invalid_responses
    from bench_assets.workspace.maintain.verification import verify as look

    with open_home() as bench:
        dropped = drop_invalid_responses(bench.settings) if responses else []
        found = [*dropped, *look(bench)]
        print_rows(found, as_json=as_json)
        wrong = sum(one.n for one in found if one.is_wrong)
        print_message(
            f"{bench.settings.home}: "
            + (f"{wrong} are not as they were written" if wrong else "whole")
        )
    raise typer.Exit(bool(wrong))


@app.command()
def migrate(
    *,
    back: Annotated[
        bool, typer.Option("--back", help="From what homes share into this home.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Take this home into what [storage] names: responses, images, tables; nothing is deleted."""
    from bench_assets.workspace.maintain.migration import migrate as take_over
    from resources.config.bench_toml import load_settings
    from resources.config.environment import default_home
    from resources.redaction.logs import redact_logs

    with error_reporting():
        redact_logs(default_home())
        moved = take_over(load_settings(default_home()), back=back)
        print_rows(moved, as_json=as_json)
        damaged = sum(one.left_out for one in moved)
        print_message(
            "All of it lies where it lay, too; every part was read where it is now, and is whole."
            + (f" {damaged} damaged ones stay where they are: see bench verify." if damaged else "")
        )


@app.command()
def home(*, as_json: JsonOption = False) -> None:
    """Show what fills the home folder, what of it can go, and how to back it up and move it."""
    from bench_assets.workspace.maintain.disk_usage import BACKUP, disk_usage, shared_disk_usage
    from resources.config.bench_toml import load_settings
    from resources.config.environment import default_home

    with error_reporting():
        folder = default_home()
        found = disk_usage(folder)
        print_message(f"{folder}: {sum(one.megabytes for one in found):.1f} MB")
        print_rows(found, as_json=as_json)
        if elsewhere := shared_disk_usage(load_settings(folder)):
            print_rows(elsewhere, as_json=as_json)
        print_message(BACKUP.format(home=quote(str(folder))))
