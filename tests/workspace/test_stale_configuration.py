import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from bench_assets.cli.main import app
from bench_resources.config.bench_toml import load_settings
from bench_resources.models.registry.named_models import model_pools
from bench_resources.tables.parquet import TableFiles
from tests.export.measured_home import measure, questions

PLAIN = Path(__file__).with_name("plain.toml").read_text(encoding="utf-8")
STALE = Path(__file__).with_name("stale.toml").read_text(encoding="utf-8")
_SERVICES_AND_RUNS = {"evaluate", "serve", "server", "web", "daemon", "code", "health", "demo"}
_TESTED_ALWAYS = {"export", "models list", "report", "tables questions"}  # the others: if long
_ARGUMENTS = {  # of commands that require some
    "audit power": ["quiz"],
    "audit run": ["quiz"],
    "export": ["csv"],
    "models check": ["fine"],
    "tables questions": ["quiz"],
    "tables show": ["quiz/questions"],
    "bundle reproduce": ["quiz", "fine"],
    "home init": ["new"],
}


def quick_commands(group: click.Command, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Commands that end soon by themselves; no argument is required, or ``_ARGUMENTS`` has it."""
    if isinstance(group, click.Group):
        for name, command in group.commands.items():
            yield from quick_commands(command, (*path, name))
        return
    needs_arguments = any(parameter.required for parameter in group.params)
    name = " ".join(path)
    if path[-1] not in _SERVICES_AND_RUNS and (name in _ARGUMENTS or not needs_arguments):
        yield name


def write_home(folder: Path, toml: str) -> Path:
    """Write a home in which a quiz was measured."""
    (folder / "runs").mkdir(parents=True)
    (folder / "bench.toml").write_text(toml, encoding="utf-8")
    (folder / "quiz.jsonl").write_text('{"question": "1?", "answer": "A", "options": ["1", "2"]}')
    measure(TableFiles(folder=str(folder / "tables")), questions("own"), "fine")
    return folder


@pytest.fixture(scope="module")
def homes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("homes")
    return write_home(folder / "plain", PLAIN), write_home(folder / "stale", PLAIN + STALE)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(command, marks=() if command in _TESTED_ALWAYS else pytest.mark.long)
        for command in quick_commands(get_command(app))
    ],
)
def test_every_command_exits_as_without_the_sections(homes, command, monkeypatch):
    results = []
    for home in homes:
        monkeypatch.setenv("BENCH_HOME", str(home))
        monkeypatch.chdir(home)
        arguments = [*command.split(), *_ARGUMENTS.get(command, [])]
        results.append(CliRunner().invoke(app, arguments))
    plain, stale = results
    assert stale.exit_code == plain.exit_code, stale.output
    assert "acme-model: cannot be used" not in stale.stderr


@pytest.fixture
def stale_home(homes, monkeypatch):
    _, home = homes
    monkeypatch.setenv("BENCH_HOME", str(home))
    return home


@pytest.mark.usefixtures("stale_home")
def test_each_section_has_a_warning_with_what_to_install():
    lines = CliRunner().invoke(app, ["leaderboard"]).stderr.splitlines()
    warnings = [line for line in lines if "left out" in line or "is ignored" in line]
    for section in ("[sources]", "[suites]", "[annotation.tasks]", "[checkpoints]"):
        (line,) = (line for line in warnings if f"{section}: no suite named 'gone'" in line)
        assert "Install its package, or remove the entry" in line
    (line,) = (line for line in warnings if "[models.acme-model] is left out" in line)
    assert "no kind named 'acme'" in line
    assert line.endswith("Install its package, or correct kind")


@pytest.mark.usefixtures("stale_home")
def test_an_evaluation_that_needs_the_missing_model_is_refused():
    result = CliRunner().invoke(app, ["evaluate", "codis", "--model", "fine"])
    assert result.exit_code == 1
    assert "acme-model: cannot be used: no kind named 'acme'" in result.stderr


@pytest.mark.usefixtures("stale_home")
def test_an_evaluation_that_does_not_need_the_missing_model_succeeds():
    result = CliRunner().invoke(app, ["evaluate", "quiz", "--model", "fine", "--limit", "1"])
    assert result.exit_code == 0, result.output


def test_pools_of_models_are_known_although_their_kind_is_not_installed(stale_home):
    assert model_pools(load_settings(stale_home)) == {"acme-model": "big"}


@pytest.mark.long  # it loads every definition in a process of its own
@pytest.mark.usefixtures("stale_home")
def test_dagster_lists_the_definitions_without_the_missing_suite():
    dg = Path(sys.executable).with_name("dg")
    result = subprocess.run([dg, "list", "defs", "--json"], capture_output=True, check=True)
    assert b"codis/questions" in result.stdout
    assert b"gone" not in result.stdout
