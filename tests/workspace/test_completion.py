"""What a shell is told at the tabulator key, asked as bash, zsh and fish ask."""

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from bench_assets.cli.app.completion import CACHE_FILE
from bench_assets.cli.main import app


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    (home / "bench.toml").write_text(
        '[models.my-model]\nkind = "random"\n[suites.journeybench.encoders.clip]\npath = "a/clip"\n'
    )
    return home


def asked_by(shell, line, home):
    """What ``line`` may go on with, by the environment that the shell's script sets."""
    words = line.split(" ")
    return {
        "BENCH_HOME": str(home),
        "_BENCH_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }


def completed(shell, line, home):
    runner = CliRunner()
    result = runner.invoke(app, [], env=asked_by(shell, line, home), prog_name="bench")
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("line", "names"),
    [
        pytest.param("bench eval", ["evaluate"], id="a command"),
        pytest.param("bench evaluate co", ["codis", "cogbench"], id="suites"),
        pytest.param("bench tables questions journeybench/mc", ["journeybench/mcot"], id="tasks"),
        pytest.param("bench evaluate codis --model my", ["my-model"], id="models of bench.toml"),
        pytest.param("bench evaluate journeybench --model cl", ["clip"], id="encoders"),
        pytest.param("bench models check rand", ["random"], id="embedded models"),
        pytest.param("bench evaluate codis --condition no_con", ["no_context"], id="conditions"),
        pytest.param("bench evaluate codis --judge rul", ["rules"], id="judges"),
        pytest.param("bench evaluate codis --judge my", ["my-model"], id="models that judge"),
        pytest.param("bench evaluate codis --scorer off", ["official"], id="scorers"),
        pytest.param("bench export csv --suite bli", ["blink"], id="suites of an option"),
        pytest.param("bench bundle reproduce cod", ["codis"], id="the task of a number"),
        pytest.param("bench bundle pack codis rand", ["random"], id="the model of a number"),
    ],
)
def test_names_are_completed(home, shell, line, names):
    said = completed(shell, line, home)
    assert [name for name in names if name not in said] == []


def test_a_new_model_is_known_at_once(home):
    completed("bash", "bench evaluate codis --model my", home)
    with (home / "bench.toml").open("a") as file:
        file.write('[models.mynd]\nkind = "random"\n')
    assert completed("bash", "bench evaluate codis --model my", home).split() == [
        *("my-model", "mynd"),
    ]


def test_a_benchmark_of_another_file_is_known_at_once(home):
    line = "bench evaluate mmm"
    assert completed("bash", line, home).split() == []
    (home / "benchmarks").mkdir()
    (home / "benchmarks/mmmine.toml").write_text('[benchmarks.mmmine]\nfile = "a.jsonl"\n')
    assert completed("bash", line, home).split() == ["mmmine"]


@pytest.mark.parametrize("written", ["[models", "[]", '{"state": 3}', "\x00"])
def test_a_damaged_note_is_written_anew(home, written):
    (home / CACHE_FILE).write_text(written)
    assert "codis" in completed("bash", "bench evaluate cod", home)
    assert "codis" in json.loads((home / CACHE_FILE).read_text())["names"]["suites"]


def test_a_mistake_in_the_settings_is_not_told_to_a_shell(tmp_path):
    (tmp_path / "bench.toml").write_text("[models")
    assert completed("bash", "bench evaluate cod", tmp_path).strip() == ""


def test_a_process_that_completes_imports_nothing_that_takes_long(home):
    completed("bash", "bench evaluate cod", home)
    said = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", COMMAND],
        env={**os.environ, **asked_by("bash", "bench evaluate cod", home)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.split() == ["codis"]
    imported = {line.rpartition("|")[2].strip() for line in said.stderr.splitlines()}
    assert (
        imported & {"torch", "transformers", "dagster", "pandas.core", "duckdb", "spacy"} == set()
    )


COMMAND = "from bench_assets.cli.main import app; app(prog_name='bench')"
