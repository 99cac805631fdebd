"""``bench export`` over a home in which a quiz of bench.toml was measured."""

import json

import pytest
from typer.testing import CliRunner

from bench_assets.cli.main import app
from bench_resources.tables.parquet import TableFiles
from tests.export.measured_home import measure, questions

PLAIN = """
[benchmarks.quiz]
file = "quiz.jsonl"
"""
ENTRY = {"id": "0", "question": "What is 0?", "answer": "A", "options": ["A", "B"]}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("home")
    (folder / "bench.toml").write_text(PLAIN, encoding="utf-8")
    (folder / "quiz.jsonl").write_text(json.dumps(ENTRY), encoding="utf-8")
    measure(TableFiles(folder=str(folder / "tables")), questions("mini"))
    return folder


@pytest.fixture
def bench(home, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(home))

    def run(*arguments):
        return CliRunner().invoke(app, ["export", *map(str, arguments)])

    return run


def test_tables_go_to_the_folder_that_is_named(bench, tmp_path):
    result = bench("jsonl", "--suite", "quiz", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    written = [line for line in result.stdout.splitlines() if line.endswith("predictions.jsonl")]
    assert written == [str(tmp_path / "out/predictions.jsonl")]
    text = (tmp_path / "out/predictions.jsonl").read_text(encoding="utf-8")
    assert text.count("\n") == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["paquet"], "did you mean 'parquet'?", id="a format"),
        pytest.param(["csv", "--task", "quizz"], "did you mean 'quiz'?", id="a task"),
        pytest.param(
            ["lm-eval", "--suite", "quiz", "--edition", "published"],
            "nothing of the edition published",
            id="mini only",
        ),
    ],
)
def test_what_cannot_be_exported_is_one_error(bench, arguments, message):
    result = bench(*arguments)
    assert (result.exit_code, message in result.stderr) == (1, True), result.stderr
