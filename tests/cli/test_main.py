import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
import typer
from typer.testing import CliRunner

from bench_assets.cli.main import EXIT_CODES, app
from tests.cases import read_cases
from tests.docs.commands import check_whole


def walk_commands(command, path="bench"):
    """A command and all commands below it, each with the words that call it."""
    yield path, command
    for name, subcommand in getattr(command, "commands", {}).items():
        yield from walk_commands(subcommand, f"{path} {name}")


COMMANDS = dict(walk_commands(typer.main.get_command(app)))
COMMANDS_THAT_RUN = [
    path for path, command in COMMANDS.items() if not isinstance(command, click.Group)
]


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_and_parameter_has_a_help_text(path):
    command = COMMANDS[path]
    assert command.get_short_help_str(), f"{path} has no help"
    help_texts = {
        parameter.name: getattr(parameter, "help", None) or "" for parameter in command.params
    }
    assert [name for name, text in help_texts.items() if not text.strip()] == []


@pytest.mark.parametrize(("arguments", "code"), read_cases(__file__, "exit_codes.jsonl"))
def test_exit_codes_are_as_documented(arguments, code, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    assert CliRunner().invoke(app, arguments).exit_code == code
    assert f"{code} " in EXIT_CODES


@pytest.mark.parametrize(
    ("command", "option"), read_cases(__file__, "options_without_effect.jsonl")
)
def test_an_option_without_an_effect_is_a_usage_error(command, option):
    result = CliRunner().invoke(app, command.split())
    assert result.exit_code == 2
    assert option in result.stderr


@pytest.mark.parametrize("path", COMMANDS_THAT_RUN)
def test_the_help_of_every_command_has_a_valid_example_of_it(path):
    _, _, example = (COMMANDS[path].help or "").partition("Example: ")
    assert example.startswith(path)
    check_whole(example.splitlines()[0])


@pytest.mark.parametrize("path", COMMANDS)
def test_texts_in_brackets_are_printed_and_not_taken_for_markup(path):
    command = COMMANDS[path]
    texts = [command.help or "", *(getattr(p, "help", "") or "" for p in command.params)]
    bracketed = [match for text in texts for match in re.findall(r"\[[^\]]+\]", text)]
    wide = {"COLUMNS": "300", "TERMINAL_WIDTH": "300"}
    output = CliRunner().invoke(app, [*path.split()[1:], "--help"], env=wide).output
    on_one_line = re.sub(r"[│\s]+", " ", output)
    assert [text for text in bracketed if text not in on_one_line] == []


@pytest.mark.parametrize(
    ("words", "nearest"), [(["evalate"], "evaluate"), (["home", "usge"], "usage")]
)
def test_the_nearest_command_is_suggested_once(words, nearest):
    output = CliRunner().invoke(app, words).output
    assert output.count("Did you mean") == output.count(f"Did you mean '{nearest}'?") == 1


BENCH = Path(sys.executable).with_name("bench")


@pytest.fixture(scope="module")
def run_bash(tmp_path_factory):
    """Runs a script of bash for a user who installed the completion; returns what it prints."""
    environment = {**os.environ, "HOME": str(tmp_path_factory.mktemp("user"))}

    def run_script(script):
        command = ["bash", "-c", f"{script}\ntrue"]  # two commands, else bash becomes the first
        process = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        )
        return process.stdout

    assert "bash completion installed" in run_script(f"{BENCH} --install-completion")
    return run_script


@pytest.mark.parametrize(
    ("words", "completions"),
    [
        pytest.param(["evalu"], ["evaluate"], id="a command"),
        pytest.param(["models", ""], ["list", "check"], id="commands of a group"),
        pytest.param(["evaluate", "--accept", "re"], ["refused"], id="a value of an enumeration"),
    ],
)
def test_bash_completes(run_bash, words, completions):
    output = run_bash(
        f"source ~/.bashrc; COMP_WORDS=({shlex.join(['bench', *words])}); COMP_CWORD={len(words)}\n"
        f"_bench_completion {BENCH}\n"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    assert output.split() == completions


def test_completing_imports_no_slow_module(run_bash):
    environment = "_BENCH_COMPLETE=complete_bash COMP_WORDS='bench evalu' COMP_CWORD=1"
    import_times = run_bash(f"{environment} {sys.executable} -X importtime {BENCH} 2>&1")
    imported = {line.rpartition("|")[2].strip() for line in import_times.splitlines()}
    assert "bench_assets.cli.main" in imported
    slow = {"torch", "transformers", "dagster", "pandas.core", "duckdb", "spacy"}
    assert imported & slow == set()
