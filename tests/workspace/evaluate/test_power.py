"""`bench audit power`: before anything is asked, of a table, and of what models showed."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench_assets.cli.main import app
from bench_assets.core.schema.rows import Question, Score
from bench_assets.workspace.evaluate.power import estimate_power
from bench_resources.tables.parquet import TableFiles
from tests.fakes.quiz import TASK, quiz

QUESTIONS = quiz(100, group=2)


class Bench:
    """A home with the tables of the quiz alone."""

    def __init__(self, folder: Path) -> None:
        self.tables = TableFiles(folder=str(folder))
        self.catalog = self

    def tasks_of(self, _: str) -> list[object]:
        return [TASK]

    def ask(self, model: str, points: list[float]) -> None:
        rows = [
            Score(question_id=q.question_id, model=model, condition="main", points=p)
            for q, p in zip(QUESTIONS, points, strict=True)
        ]
        self.tables.write(["quiz", "scores"], rows, Score, model)


@pytest.fixture
def bench(tmp_path):
    found = Bench(tmp_path)
    found.tables.write(["quiz", "questions"], QUESTIONS, Question)
    return found


def test_without_models_the_worst_is_taken_and_pairs_count_for_less(bench):
    same, other = estimate_power(bench, "quiz", 0.1, 0.5)
    assert (same.questions, same.units, same.clusters) == (100, 100, 50)
    # 2 * 1/4 for each of 100, 1.3 times as much in pairs: (1.984 + 0.842) sqrt(0.65 / 100).
    assert same.smallest == other.smallest == pytest.approx(2.826 * 0.65**0.5 / 10, abs=5e-4)
    # 2.8 squared times 0.65 / 0.01, and a little for Student's quantile.
    assert same.needed == pytest.approx(7.849 * 65, abs=3)
    assert "no model seen" in same.basis


def test_models_that_were_measured_say_how_they_differ(bench):
    bench.ask("a", [1.0, 0.0] * 50)
    bench.ask("b", [1.0, 0.0] * 45 + [0.0, 1.0] * 5)
    same, other = estimate_power(bench, "quiz", None, 0.5)
    assert same.basis == "2 models' responses"
    # In every pair as much is lost as won: no more than one changed cluster in 102 is taken.
    assert same.smallest == pytest.approx(2.826 * (1 / 102) ** 0.5 / 10, abs=5e-4)
    assert (same.baseline, same.power, same.needed) == (0.5, None, None)
    assert other.compared == "on other questions"


def test_a_fresh_home_falls_back_on_the_papers_counts(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    found = CliRunner().invoke(app, ["audit", "power", "codis", "--difference", "0.02", "--json"])
    assert found.exit_code == 0, found.output
    row = json.loads(found.stdout.splitlines()[0])
    assert (row["questions"], row["clusters"]) == (706, None)  # Table 2 of the paper
    assert "each question for itself; bench tables questions codis" in row["basis"]
