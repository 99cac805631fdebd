import json

import pytest
from typer.testing import CliRunner

from bench_assets.cli.main import app
from bench_resources.tables.parquet import TableFiles
from tests.cases import read_cases
from tests.export.measured_home import measure, questions

SETTINGS = '[benchmarks.quiz]\nfile = "quiz.jsonl"\n'
QUESTION = {"id": "0", "question": "What is 0?", "answer": "A", "options": ["A", "B"]}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("home")
    (folder / "bench.toml").write_text(SETTINGS, encoding="utf-8")
    (folder / "quiz.jsonl").write_text(json.dumps(QUESTION), encoding="utf-8")
    measure(TableFiles(folder=str(folder / "tables")), questions("mini"))
    return folder


@pytest.fixture
def run_export(home, monkeypatch):
    """A function that runs ``bench export`` in the home."""
    monkeypatch.setenv("BENCH_HOME", str(home))
    return lambda *arguments: CliRunner().invoke(app, ["export", *map(str, arguments)])


def test_tables_are_written_into_the_given_folder(run_export, tmp_path):
    result = run_export("jsonl", "--suite", "quiz", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert str(tmp_path / "out/predictions.jsonl") in result.stdout.splitlines()
    text = (tmp_path / "out/predictions.jsonl").read_text(encoding="utf-8")
    assert text.count("\n") == 4  # questions


@pytest.mark.parametrize(
    ("arguments", "expected_message"), read_cases(__file__, "impossible_exports.jsonl")
)
def test_an_export_that_is_impossible_is_an_error(run_export, arguments, expected_message):
    result = run_export(*arguments)
    assert result.exit_code == 1
    assert expected_message in result.stderr
