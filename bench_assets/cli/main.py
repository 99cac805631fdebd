"""The ``bench`` command: a thin face over the same assets and functions as the UI."""

from importlib.metadata import version
from typing import Annotated

import typer

from bench_assets.cli.app import scaffolding
from bench_assets.cli.app.command_context import open_home
from bench_assets.cli.app.options import CommandGroup, JsonOption, SourceOption, SuiteName
from bench_assets.cli.commands.annotate import app as people_app
from bench_assets.cli.commands.annotate import campaigns_app
from bench_assets.cli.commands.annotate import server_app as people_server_app
from bench_assets.cli.commands.audit import app as audit_app
from bench_assets.cli.commands.audit import judge_app as judges_app
from bench_assets.cli.commands.audit import orders_app, power_app
from bench_assets.cli.commands.bundle import app as reproduce_app
from bench_assets.cli.commands.evaluate import app as evaluate_app
from bench_assets.cli.commands.explain import app as explain_app
from bench_assets.cli.commands.home import app as home_app
from bench_assets.cli.commands.models import app as models_app
from bench_assets.cli.commands.report import app as report_app
from bench_assets.cli.commands.report import ui_app
from bench_assets.cli.commands.serve import app as serve_app
from bench_assets.cli.commands.suites import app as claims_app
from bench_assets.cli.commands.tables import app as export_app
from bench_assets.core.schema.errors import BenchError
from bench_assets.workspace.console.output import print_leaderboard, print_result, print_rows

EXIT_CODES = (
    "Exit codes: 0 done; 1 it could not be done, or something that was looked at is wrong; 2 the"
    " command was not understood; 129, 130, 143 ended by SIGHUP, Ctrl-C, SIGTERM, and the same"
    " command goes on from there."
)

app = typer.Typer(
    cls=CommandGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog=EXIT_CODES,
)
app.add_typer(evaluate_app)
app.add_typer(models_app)
app.add_typer(judges_app)
app.add_typer(home_app)
app.add_typer(explain_app)
app.add_typer(power_app)
app.add_typer(claims_app)
app.add_typer(audit_app)
app.add_typer(orders_app)
app.add_typer(report_app)
app.add_typer(export_app)
app.add_typer(reproduce_app)
app.add_typer(ui_app)
app.add_typer(serve_app, name="serve")
app.add_typer(scaffolding.app, name="init")
for more in (campaigns_app, people_server_app):
    people_app.add_typer(more)
app.add_typer(people_app, name="annotate")


def _version(*, wanted: bool) -> None:
    if wanted:
        print_result(f"bench-assets {version('bench-assets')}")
        raise typer.Exit


@app.callback()
def main(
    *,
    _: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Say which version."),
    ] = False,
) -> None:
    """Build vision-language benchmarks and evaluate models on them."""


@app.command()
def demo() -> None:
    """Build every suite's mini edition, evaluate the embedded models, print the leaderboard."""
    from bench_assets.cli.commands.demo import evaluate_embedded, print_summary

    with open_home() as bench:
        failures = evaluate_embedded(bench)
        print_summary(bench)
        if failures:
            raise BenchError("; ".join(map(str, failures)))


@app.command()
def questions(
    suite: SuiteName, source: SourceOption = None, *, as_json: JsonOption = False
) -> None:
    """Print a suite's question table, built from its source."""
    with open_home(suite, source, scratch=source is not None) as bench:
        bench.refresh_questions(suite)
        for task in bench.catalog.tasks_of(suite):
            print_rows(bench.questions(task), as_json=as_json)


@app.command()
def leaderboard(
    task: Annotated[
        str, typer.Argument(help="A suite or task: its lines with intervals, and the papers'.")
    ] = "",
    *,
    published: Annotated[
        bool, typer.Option("--published", help="Also what the papers print.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Print the leaderboard: models by tasks, each edition for itself."""
    from bench_assets.cli.output.leaderboard import print_matrices
    from bench_assets.workspace.inspect.leaderboard import (
        chance_levels,
        present_leaderboard,
        unvalidated_judge_signatures,
    )

    with open_home() as bench:
        rows = present_leaderboard(bench)
        if task:
            names = {one.name for one in bench.catalog.tasks_of(task)}
            rows = [row for row in rows if row.task.partition("+")[0] in names]
        if task or as_json:
            print_leaderboard(rows, as_json=as_json)
        else:
            print_matrices(
                rows,
                chance_levels(bench),
                unvalidated_judge_signatures(bench, rows),
                published=published,
            )
