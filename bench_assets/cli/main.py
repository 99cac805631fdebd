"""The ``bench`` command line, over the same assets and functions as the UI.

The root group restores help texts of arguments, which typer before 0.26 loses with click 8.5.
"""

import inspect
from collections.abc import Iterator
from importlib.metadata import version
from typing import Annotated, Any, get_args

import click
import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup
from typer.models import ArgumentInfo

from bench_assets.cli.app import scaffolding
from bench_assets.cli.app.command_context import error_reporting, open_home
from bench_assets.cli.app.options import JsonOption
from bench_assets.cli.commands.evaluate import app as evaluate_app
from bench_assets.cli.commands.explain import app as explain_app
from bench_assets.cli.commands.home import app as home_app
from bench_assets.cli.commands.models import app as models_app
from bench_assets.cli.commands.models import removal_app
from bench_assets.cli.commands.report import app as report_app
from bench_assets.cli.commands.tables import app as tables_app
from bench_assets.cli.commands.ui import app as ui_app
from bench_assets.core.schema.errors import SettingsError
from bench_assets.features import FEATURES, command_of
from bench_assets.workspace.console.output import print_leaderboard, print_message, print_result

EXIT_CODES = (
    "Exit codes: 0 success; 1 an error, or a failed check; 2 usage error; 3 a failed gate;"
    " 129, 130, 143 ended by SIGHUP, Ctrl-C, SIGTERM: run the same command again to continue."
)

PANELS = {
    "Evaluate": ("evaluate", "audit", "annotate"),
    "Look": ("leaderboard", "explain", "report", "tables", "export"),
    "Operate": ("models", "bundle", "home", "ui"),
}
"""Headings of ``bench --help``, and the commands under each."""

SHORTCUTS = {"import": "home"}
"""Commands that are also available at the top level, and their group."""


def feature_command(name: str) -> typer.Typer:
    """Load the command of a feature; without its package, one that says what to install."""
    try:
        commands: typer.Typer = command_of(name)
    except SettingsError as error:
        return _missing_command(name, error)
    return commands


def _missing_command(name: str, error: SettingsError) -> typer.Typer:
    """Build a command that accepts all arguments and reports the error."""
    commands = typer.Typer()

    @commands.command(
        name,
        help="Not installed.",
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )
    def report_missing() -> None:
        with error_reporting():
            raise error

    return commands


class CommandGroup(TyperGroup):
    """The root group: lists commands under headings, and restores help texts of arguments."""

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401
        super().__init__(**attributes)
        for panel, names in PANELS.items():
            for name in names:
                command = self.commands.get(name)
                if isinstance(command, TyperCommand | TyperGroup):
                    command.rich_help_panel = panel
        for command in _walk_commands(self):
            if isinstance(command, TyperGroup):
                command.suggest_commands = False  # click does that itself
            helps = _argument_helps(command)
            for parameter in command.params:
                if isinstance(parameter, TyperArgument) and not parameter.help:
                    parameter.help = helps.get(parameter.name or "")

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find a command, including those of ``SHORTCUTS``."""
        group = self.commands.get(SHORTCUTS.get(cmd_name, ""))
        if isinstance(group, TyperGroup):
            return group.get_command(ctx, cmd_name)
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of ``PANELS``, after those without a panel."""
        order = [name for names in PANELS.values() for name in names]
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: order.index(name) if name in order else -1)


def _walk_commands(command: click.Command) -> Iterator[click.Command]:
    yield command
    if isinstance(command, click.Group):
        for subcommand in command.commands.values():
            yield from _walk_commands(subcommand)


def _argument_helps(command: click.Command) -> dict[str, str | None]:
    """Help texts of arguments, from the signature of the command's function."""
    helps: dict[str, str | None] = {}
    if command.callback is None:
        return helps
    for name, parameter in inspect.signature(command.callback).parameters.items():
        for metadata in get_args(parameter.annotation)[1:]:  # of Annotated
            if isinstance(metadata, ArgumentInfo):
                helps[name] = metadata.help
    return helps


app = typer.Typer(
    cls=CommandGroup, no_args_is_help=True, pretty_exceptions_enable=False, epilog=EXIT_CODES
)
for commands in (evaluate_app, explain_app, report_app):
    app.add_typer(commands)
for commands in (scaffolding.app, removal_app):
    home_app.add_typer(commands)
app.add_typer(home_app, name="home")
app.add_typer(models_app, name="models")
app.add_typer(tables_app, name="tables")
app.add_typer(ui_app, name="ui")
for feature in FEATURES:
    for command in feature.commands:
        group = home_app if SHORTCUTS.get(command) == "home" else app
        group.add_typer(feature_command(command))


def _print_version(*, is_requested: bool) -> None:
    if is_requested:
        print_result(f"bench-assets {version('bench-assets')}")
        raise typer.Exit


@app.callback()
def main(
    *,
    _: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Build vision-language benchmarks and evaluate models on them."""


@app.command()
def leaderboard(
    task: Annotated[str, typer.Argument(help="Suite or task, with intervals. Default: all.")] = "",
    *,
    published: Annotated[
        bool, typer.Option("--published", help="Include the papers' rows, as --json does.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Print the leaderboard: models by tasks, one table per edition.

    Example: bench leaderboard codis
    """
    from bench_assets.cli.output.leaderboard import print_matrices
    from bench_assets.workspace.inspect.leaderboard import (
        chance_levels,
        missing_numbers,
        present_leaderboard,
    )
    from bench_assets.workspace.maintain.removal import unknown_suites

    with open_home(rule="bench.toml") as bench:  # it lists all sources
        tasks = bench.catalog.tasks_of(task) if task else ()  # raises if there is none
        rows = present_leaderboard(bench)
        if task:
            names = {selected.name for selected in tasks}
            rows = [row for row in rows if row.task.partition("+")[0] in names]
        if task or as_json:
            print_leaderboard(rows, published=published, as_json=as_json)
        else:
            print_matrices(rows, chance_levels(bench), published=published)
            for line in missing_numbers(bench):
                print_message(line)
            for suite, models in unknown_suites(bench).items():
                print_message(
                    f"{suite}: has results of {', '.join(models)}, and is neither installed nor in "
                    f"bench.toml. Install its package, or: rm -r {bench.tables.blobs.named(suite)}"
                )
