"""The root of the commands: their arguments say what they are.

From click 8.5 on, an argument's help is click's to keep, and typer before 0.26 loses it on the way.
"""

import inspect
from collections.abc import Iterator
from typing import Any, get_args

import click
from typer.core import TyperArgument, TyperGroup
from typer.models import ArgumentInfo


class Commands(TyperGroup):
    """Typer's group, which gives all arguments below it their help back."""

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401
        super().__init__(**attributes)
        for command in _below(self):
            helps = _helps(command)
            for one in command.params:
                if isinstance(one, TyperArgument) and not one.help:
                    one.help = helps.get(one.name or "")


def _below(command: click.Command) -> Iterator[click.Command]:
    yield command
    for one in getattr(command, "commands", {}).values():
        yield from _below(one)


def _helps(command: click.Command) -> dict[str, str | None]:
    """What the function behind a command says of its arguments."""
    if command.callback is None:
        return {}
    annotated = inspect.signature(command.callback).parameters.items()
    return {
        name: info.help
        for name, parameter in annotated
        for info in get_args(parameter.annotation)[1:]
        if isinstance(info, ArgumentInfo)
    }
