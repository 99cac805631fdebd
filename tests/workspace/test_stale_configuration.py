"""Sections of what is no longer installed stop nothing but their own part."""

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
_LONG = {"evaluate", "serve", "server", "web", "daemon", "code", "health", "demo"}
_QUICK = {"export", "models list", "report", "tables questions"}
_WITH = {  # arguments of commands that need some
    "audit power": ["quiz"],
    "audit run": ["quiz"],
    "export": ["csv"],
    "models check": ["fine"],
    "tables questions": ["quiz"],
    "tables show": ["quiz/questions"],
    "bundle reproduce": ["quiz", "fine"],
    "home init": ["new"],
}


def commands(group: click.Command, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Every command that ends soon by itself, and needs no argument or those of ``_WITH``."""
    if isinstance(group, click.Group):
        for name, one in group.commands.items():
            yield from commands(one, (*path, name))
    elif path[-1] not in _LONG and (
        " ".join(path) in _WITH or not any(one.required for one in group.params)
    ):
        yield " ".join(path)


def home(folder: Path, written: str) -> Path:
    """A home in which a quiz was measured."""
    (folder / "runs").mkdir(parents=True)
    (folder / "bench.toml").write_text(written, encoding="utf-8")
    (folder / "quiz.jsonl").write_text('{"question": "1?", "answer": "A", "options": ["1", "2"]}')
    measure(TableFiles(folder=str(folder / "tables")), questions("own"), "fine")
    return folder


@pytest.fixture(scope="module")
def homes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("homes")
    return home(folder / "plain", PLAIN), home(folder / "stale", PLAIN + STALE)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(one, marks=() if one in _QUICK else pytest.mark.long)
        for one in commands(get_command(app))
    ],
)
def test_every_command_does_as_without_the_sections(homes, command, monkeypatch):
    done = []
    for one in homes:
        monkeypatch.setenv("BENCH_HOME", str(one))
        monkeypatch.chdir(one)
        done.append(CliRunner().invoke(app, [*command.split(), *_WITH.get(command, [])]))
    plain, stale = done
    assert stale.exit_code == plain.exit_code, stale.output
    assert "acme-model: cannot be used" not in stale.stderr


@pytest.fixture
def stale(homes, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(homes[1]))
    return homes[1]


def test_each_section_has_a_line_that_says_what_to_install(stale):
    lines = CliRunner().invoke(app, ["leaderboard"]).stderr.splitlines()
    warnings = [line for line in lines if "left out" in line or "is ignored" in line]
    for section in ("[sources]", "[suites]", "[annotation.tasks]", "[checkpoints]"):
        (line,) = (line for line in warnings if f"{section}: no suite named 'gone'" in line)
        assert "Install its package, or remove the entry" in line
    (line,) = (line for line in warnings if "[models.acme-model] is left out" in line)
    assert "no kind named 'acme'" in line
    assert line.endswith("Install its package, or correct kind")


def test_what_needs_it_says_what_is_missing_and_nothing_else_stops(stale):
    judged = CliRunner().invoke(app, ["evaluate", "codis", "--model", "fine"])
    assert judged.exit_code == 1
    assert "acme-model: cannot be used: no kind named 'acme'" in judged.stderr
    other = CliRunner().invoke(app, ["evaluate", "quiz", "--model", "fine", "--limit", "1"])
    assert other.exit_code == 0, other.output


def test_pools_of_checkpoints_whose_kind_is_not_installed_are_those_of_the_rest(stale):
    assert model_pools(load_settings(stale)) == {"acme-model": "big"}


@pytest.mark.long  # it loads every definition in a process of its own
def test_dagster_lists_the_definitions(stale):
    dg = Path(sys.executable).with_name("dg")
    listed = subprocess.run([dg, "list", "defs", "--json"], capture_output=True, check=True)
    assert b"codis/questions" in listed.stdout
    assert b"gone" not in listed.stdout
