"""Commands, arguments and options are explained; exit codes hold; a shell completes them."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import typer
from typer.testing import CliRunner

from bench_assets.cli.main import EXIT_CODES, app
from tests.docs.commands import check_whole


def commands(command: click.Command, path: str = "bench") -> Iterator[tuple[str, click.Command]]:
    yield path, command
    for name, one in getattr(command, "commands", {}).items():
        yield from commands(one, f"{path} {name}")


EVERY = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("path", EVERY)
def test_everything_says_what_it_is(path):
    command = EVERY[path]
    assert command.get_short_help_str(), f"{path} says nothing"
    silent = [one.name for one in command.params if not (getattr(one, "help", None) or "").strip()]
    assert silent == []


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(["--help"], 0, id="0: done"),
        pytest.param(["home", "usage"], 0, id="0: a home that is not there is empty"),
        pytest.param(["models", "list", "nobody"], 1, id="1: it could not be done"),
        pytest.param(["models", "check", "nobody", "random"], 1, id="1: one of two is no model"),
        pytest.param(["models", "list", "--chek"], 2, id="2: no such option"),
        pytest.param(["evalate"], 2, id="2: no such command"),
        pytest.param(["evaluate", "codis"], 2, id="2: an option that is needed"),
        pytest.param(["evaluate", "codis", "--limit", "few"], 2, id="2: not a number"),
    ],
)
def test_exit_codes_are_as_documented(arguments, code, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    assert CliRunner().invoke(app, arguments).exit_code == code
    assert f"{code} " in EXIT_CODES


@pytest.mark.parametrize("path", [one for one in EVERY if not hasattr(EVERY[one], "commands")])
def test_the_help_of_every_command_has_an_example_of_itself(path):
    _, _, example = (EVERY[path].help or "").partition("Example: ")
    assert example.startswith(path)
    check_whole(example.split("\n", 1)[0])


@pytest.mark.parametrize("path", EVERY)
def test_what_stands_in_brackets_is_printed(path):
    texts = [EVERY[path].help or "", *(getattr(p, "help", "") or "" for p in EVERY[path].params)]
    bracketed = [part for text in texts for part in re.findall(r"\[[^\]]+\]", text)]
    wide = {"COLUMNS": "300", "TERMINAL_WIDTH": "300"}
    shown = CliRunner().invoke(app, [*path.split()[1:], "--help"], env=wide).output
    flat = re.sub(r"[│\s]+", " ", shown)
    assert [part for part in bracketed if part not in flat] == []


@pytest.mark.parametrize("words", [["evalate"], ["home", "usge"]], ids=" ".join)
def test_the_nearest_command_is_named_once(words):
    shown = CliRunner().invoke(app, words).output
    assert shown.count("Did you mean") == 1


BENCH = Path(sys.executable).with_name("bench")
CASES = (
    pytest.param(["evalu"], ["evaluate"], id="a command"),
    pytest.param(["models", ""], ["list", "check"], id="commands of a group"),
    pytest.param(["evaluate", "--accept", "re"], ["refused"], id="a value of an enumeration"),
)


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """Runs lines of bash in a home of a user who installed the completion."""
    environment = {**os.environ, "HOME": str(tmp_path_factory.mktemp("user"))}

    def run(script):
        lines = ["bash", "-c", f"{script}\ntrue"]  # two commands, else bash becomes the first
        done = subprocess.run(lines, env=environment, capture_output=True, text=True, check=True)
        return done.stdout

    assert "bash completion installed" in run(f"{BENCH} --install-completion")
    return run


@pytest.mark.parametrize(("words", "completed"), CASES)
def test_bash_completes(shell, words, completed):
    printed = shell(
        f"source ~/.bashrc; COMP_WORDS=({shlex.join(['bench', *words])}); COMP_CWORD={len(words)}\n"
        f"_bench_completion {BENCH}\n"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    assert printed.split() == completed


def test_a_process_that_completes_imports_nothing_that_takes_long(shell):
    environment = "_BENCH_COMPLETE=complete_bash COMP_WORDS='bench evalu' COMP_CWORD=1"
    timed = shell(f"{environment} {sys.executable} -X importtime {BENCH} 2>&1")
    imported = {line.rpartition("|")[2].strip() for line in timed.splitlines()}
    assert "bench_assets.cli.main" in imported
    heavy = {"torch", "transformers", "dagster", "pandas.core", "duckdb", "spacy"}
    assert imported & heavy == set()
