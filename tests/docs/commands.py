"""Commands as a shell would take them, parsed by the command line itself but not run."""

import re
import shlex
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import click
import typer

from bench_assets.cli.main import app
from tests.docs.blocks import CHECKOUT

_OPERATORS = {"|", ">", "&&", ";", "&"}  # of the shell: they end the arguments of a command
_PUNCTUATION = ".,:"


class NoSuchWordError(Exception):
    """A page names a command, an option or a target that does not exist."""


def words_of(line: str) -> list[str]:
    """Split a line into the words of its first command: variables and comments are left out.

    >>> words_of("BENCH_HOME=home .venv/bin/bench table [NAME] --json | head  # ten lines")
    ['bench', 'table', 'NAME', '--json']
    """
    words = shlex.split(re.sub(r"(?<= )\[|\](?= |$)", "", line), comments=True)
    while words and re.match(r"[A-Z_]+=", words[0]):
        words = words[1:]
    words = list(takewhile(lambda word: word not in _OPERATORS, words))
    return [Path(words[0]).name, *words[1:]] if words else []


@cache
def _command() -> click.Group:
    group = typer.main.get_command(app)
    assert isinstance(group, click.Group)
    return group


class _ParsedCommand(NamedTuple):
    """A command, the words behind its name, and its context."""

    command: click.Command
    arguments: list[str]
    context: click.Context


def _find_command(words: list[str]) -> _ParsedCommand:
    command: click.Command = _command()
    context = click.Context(command, info_name="bench")
    arguments = words[1:]
    while isinstance(command, click.Group) and arguments and not arguments[0].startswith("-"):
        if arguments[0] == "COMMAND":  # a placeholder of the page
            break
        subcommand = command.get_command(context, arguments[0])
        if subcommand is None:
            raise NoSuchWordError(f"no command {arguments[0]!r}: {shlex.join(words)}")
        command, arguments = subcommand, arguments[1:]
        context = click.Context(command, info_name=command.name, parent=context)
    return _ParsedCommand(command, arguments, context)


def check_words(line: str) -> None:
    """Raise if the command or an option of a line does not exist, or a target of ``make``."""
    words = words_of(line)
    if words[:1] == ["make"]:
        _check_targets(words)
    elif words[:1] == ["bench"]:
        command, arguments, context = _find_command(words)
        options = {name for param in command.get_params(context) for name in param.opts}
        if len(words) == 2:
            options |= {"--install-completion", "--show-completion"}
        for word in arguments:
            if word.startswith("--") and word.rstrip(_PUNCTUATION).partition("=")[0] not in options:
                raise NoSuchWordError(f"no option {word}: {line}")


def check_whole(line: str) -> None:
    """Raise as ``check_words``, and if an argument is missing or a value is invalid."""
    words = words_of(line)
    check_words(line)
    if words[:1] == ["bench"]:
        command, arguments, context = _find_command(words)
        if isinstance(command, click.Group):
            return
        try:
            command.make_context(str(command.name), arguments, parent=context.parent)
        except click.exceptions.Exit:
            return  # --help
        except click.ClickException as error:
            raise NoSuchWordError(f"{error.format_message()}: {line}") from error


def _check_targets(words: list[str]) -> None:
    makefile = (CHECKOUT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))
    for word in words[1:]:
        if "=" not in word and word.rstrip(_PUNCTUATION) not in targets:
            raise NoSuchWordError(f"no target {word}: {' '.join(words)}")
