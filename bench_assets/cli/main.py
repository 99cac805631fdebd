"""The ``bench`` command line, over the same assets and functions as the UI."""

from importlib.metadata import version
from typing import Annotated

import typer

from bench_assets.cli.app import scaffolding
from bench_assets.cli.app.command_context import open_home
from bench_assets.cli.app.options import SHORTCUTS, CommandGroup, JsonOption, feature_command
from bench_assets.cli.commands.evaluate import app as evaluate_app
from bench_assets.cli.commands.explain import app as explain_app
from bench_assets.cli.commands.home import app as home_app
from bench_assets.cli.commands.models import app as models_app
from bench_assets.cli.commands.models import removal_app
from bench_assets.cli.commands.report import app as report_app
from bench_assets.cli.commands.tables import app as tables_app
from bench_assets.cli.commands.ui import app as ui_app
from bench_assets.features import FEATURES
from bench_assets.workspace.console.output import print_leaderboard, print_message, print_result

EXIT_CODES = (
    "Exit codes: 0 success; 1 an error, or a failed check; 2 usage error; 129, 130, 143 ended by"
    " SIGHUP, Ctrl-C, SIGTERM: run the same command again to continue."
)

app = typer.Typer(
    cls=CommandGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog=EXIT_CODES,
)
for commands in (evaluate_app, explain_app, report_app):
    app.add_typer(commands)
for part in (scaffolding.app, removal_app):
    home_app.add_typer(part)
app.add_typer(home_app, name="home")
app.add_typer(models_app, name="models")
app.add_typer(tables_app, name="tables")
app.add_typer(ui_app, name="ui")
for feature in FEATURES:
    for command in feature.commands:
        group = home_app if SHORTCUTS.get(command) == "home" else app
        group.add_typer(feature_command(command))


def _version(*, wanted: bool) -> None:
    if wanted:
        print_result(f"bench-assets {version('bench-assets')}")
        raise typer.Exit


@app.callback()
def main(
    *,
    _: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Build vision-language benchmarks and evaluate models on them."""


@app.command()
def leaderboard(
    task: Annotated[str, typer.Argument(help="Suite or task, with intervals. Default: all.")] = "",
    *,
    published: Annotated[
        bool, typer.Option("--published", help="Include the papers' rows.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Print the leaderboard: models by tasks, one row per edition.

    Example: bench leaderboard codis
    """
    from bench_assets.cli.output.leaderboard import print_matrices
    from bench_assets.workspace.inspect.leaderboard import (
        chance_levels,
        present_leaderboard,
    )
    from bench_assets.workspace.maintain.removal import unknown_suites

    with open_home(rule="bench.toml") as bench:  # it lists all sources
        rows = present_leaderboard(bench)
        if task:
            names = {one.name for one in bench.catalog.tasks_of(task)}
            rows = [row for row in rows if row.task.partition("+")[0] in names]
        if task or as_json:
            print_leaderboard(rows, published=published, as_json=as_json)
        else:
            print_matrices(rows, chance_levels(bench), published=published)
            for suite, models in unknown_suites(bench).items():
                print_message(
                    f"{suite}: has results of {', '.join(models)}, and is neither installed nor in "
                    f"bench.toml. Install its package, or: rm -r {bench.tables.blobs.named(suite)}"
                )
