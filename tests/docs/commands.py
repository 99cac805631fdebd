"""Commands as a shell would take them, parsed by the command line itself but not run."""

import re
import shlex
from functools import cache
from pathlib import Path

import click
import typer

from bench_assets.cli.main import app
from tests.docs.blocks import CHECKOUT

_ENDS = {"|", ">", "&&", ";", "&"}  # behind these another program has the word
_ENDINGS = ".,:"


class NoSuchWordError(Exception):
    """A page names a command, an option or a target that there is not."""


def words_of(line: str) -> list[str]:
    """Split a line into the words of its first command: variables and comments are left out.

    >>> words_of("BENCH_HOME=home .venv/bin/bench table [NAME] --json | head  # ten lines")
    ['bench', 'table', 'NAME', '--json']
    """
    words = shlex.split(re.sub(r"(?<= )\[|\](?= |$)", "", line), comments=True)
    while words and re.match(r"[A-Z_]+=", words[0]):
        words = words[1:]
    ends = [place for place, word in enumerate(words) if word in _ENDS]
    words = words[: ends[0]] if ends else words
    return [Path(words[0]).name, *words[1:]] if words else []


@cache
def _command() -> click.Group:
    made = typer.main.get_command(app)
    assert isinstance(made, click.Group)
    return made


def _found(words: list[str]) -> tuple[click.Command, list[str], click.Context]:
    """Follow the words to the command that they name."""
    command: click.Command = _command()
    context = click.Context(command, info_name="bench")
    rest = words[1:]
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        if rest[0] == "COMMAND":
            break
        below = command.get_command(context, rest[0])
        if below is None:
            raise NoSuchWordError(f"no command {rest[0]!r}: {shlex.join(words)}")
        command, rest = below, rest[1:]
        context = click.Context(command, info_name=command.name, parent=context)
    return command, rest, context


def check_words(line: str) -> None:
    """Make sure that the command and the options of a line exist, and the target of ``make``."""
    words = words_of(line)
    if words[:1] == ["make"]:
        _check_targets(words)
    elif words[:1] == ["bench"]:
        command, rest, context = _found(words)
        there = {name for param in command.get_params(context) for name in param.opts}
        there |= {"--install-completion", "--show-completion"} if len(words) == 2 else set()
        for word in rest:
            if word.startswith("--") and word.rstrip(_ENDINGS).partition("=")[0] not in there:
                raise NoSuchWordError(f"no option {word}: {line}")


def check_whole(line: str) -> None:
    """Have a whole command parsed: what it must have, and the kind of each value, too."""
    words = words_of(line)
    check_words(line)
    if words[:1] == ["bench"]:
        command, rest, context = _found(words)
        if isinstance(command, click.Group):
            return
        try:
            command.make_context(str(command.name), rest, parent=context.parent)
        except click.exceptions.Exit:
            return  # --help
        except click.ClickException as error:
            raise NoSuchWordError(f"{error.format_message()}: {line}") from error


def _check_targets(words: list[str]) -> None:
    there = set(re.findall(r"^([\w-]+):", (CHECKOUT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for word in words[1:]:
        if "=" not in word and word.rstrip(_ENDINGS) not in there:
            raise NoSuchWordError(f"no target {word}: {' '.join(words)}")
