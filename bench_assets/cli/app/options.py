"""Options and arguments that several commands share, and the root group of commands.

The group restores help texts of arguments, which typer before 0.26 loses with click 8.5.
"""

import inspect
from collections.abc import Iterator
from typing import Annotated, Any, get_args

import click
import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup
from typer.models import ArgumentInfo

from bench_assets.cli.app.command_context import error_reporting
from bench_assets.core.schema.errors import SettingsError
from bench_assets.features import command_of

SuiteName = Annotated[
    str,
    typer.Argument(help="Suite or task, such as codis."),
]
SourceOption = Annotated[
    str,
    typer.Option(
        metavar="PATH",
        help="Folder of the suite's files, or hf:... or https://...; default: bench.toml's. It is"
        " remembered once it was evaluated.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON lines.")]
JudgeOption = Annotated[
    str, typer.Option(help='Judge: a model of bench.toml, "rules" or "people".')
]
ReaderOption = Annotated[
    str,
    typer.Option(
        help='Reader of responses that no rule reads: a model of bench.toml, "self" or "rules".'
    ),
]
ScorerOption = Annotated[str, typer.Option(help="Scorer of responses.")]
ElicitOption = Annotated[
    str,
    typer.Option(
        help="Elicitation: generate; or likelihood or constrained, for questions with options.",
        show_default=False,
    ),
]
ModelsOption = Annotated[
    list[str],
    typer.Option(
        "--model",
        help="Model: a name of bench.toml, a checkpoint folder, hf:org/name or http://...#name;"
        " repeatable.",
    ),
]
OptionalModelsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        help="Model: a name of bench.toml, a checkpoint folder, hf:org/name or http://...#name;"
        " repeatable.",
    ),
]
ConditionOption = Annotated[str, typer.Option(help="Condition: main or an ablation.")]
ConditionsOption = Annotated[
    list[str] | None,
    typer.Option("--condition", help="Condition: main or an ablation; repeatable."),
]


PANELS = {
    "Evaluate": ("evaluate", "audit", "annotate"),
    "Look": ("leaderboard", "explain", "report", "tables", "export"),
    "Operate": ("models", "bundle", "home", "ui"),
}
"""Headings of ``bench --help``, and the commands under each."""

SHORTCUTS = {"import": "home"}
"""Commands that are also available at the top level, and their group."""


def feature_command(name: str) -> typer.Typer:
    """The command of a feature; one that says what to install if its package is missing."""
    try:
        commands: typer.Typer = command_of(name)
    except SettingsError as error:
        return _missing_command(name, error)
    return commands


def _missing_command(name: str, error: SettingsError) -> typer.Typer:
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
                if isinstance(command := self.commands.get(name), TyperCommand | TyperGroup):
                    command.rich_help_panel = panel
        for command in _walk_commands(self):
            if isinstance(command, TyperGroup):
                command.suggest_commands = False  # click does that itself
            helps = _argument_helps(command)
            for one in command.params:
                if isinstance(one, TyperArgument) and not one.help:
                    one.help = helps.get(one.name or "")

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find a command, including those of ``SHORTCUTS``."""
        group = self.commands.get(SHORTCUTS.get(cmd_name, ""))
        if isinstance(group, TyperGroup):
            return group.get_command(ctx, cmd_name)
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of ``PANELS``."""
        order = [name for names in PANELS.values() for name in names]
        named = super().list_commands(ctx)
        return sorted(named, key=lambda name: order.index(name) if name in order else -1)


def _walk_commands(command: click.Command) -> Iterator[click.Command]:
    yield command
    for one in getattr(command, "commands", {}).values():
        yield from _walk_commands(one)


def _argument_helps(command: click.Command) -> dict[str, str | None]:
    """Help texts of arguments, from the signature of the command's function."""
    if command.callback is None:
        return {}
    annotated = inspect.signature(command.callback).parameters.items()
    return {
        name: info.help
        for name, parameter in annotated
        for info in get_args(parameter.annotation)[1:]
        if isinstance(info, ArgumentInfo)
    }
