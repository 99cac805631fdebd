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


class QuizBench:
    """A workbench with the tables of the quiz alone; it is its own catalog."""

    def __init__(self, folder: Path) -> None:
        self.tables = TableFiles(folder=str(folder))
        self.catalog = self

    def tasks_of(self, _: str) -> list[object]:
        return [TASK]

    def write_scores(self, model: str, points: list[float]) -> None:
        rows = [
            Score(question_id=question.question_id, model=model, condition="main", points=p)
            for question, p in zip(QUESTIONS, points, strict=True)
        ]
        self.tables.write(["quiz", "scores"], rows, Score, model)


@pytest.fixture
def bench(tmp_path):
    quiz_bench = QuizBench(tmp_path)
    quiz_bench.tables.write(["quiz", "questions"], QUESTIONS, Question)
    return quiz_bench


def test_without_models_the_largest_spread_is_assumed_and_pairs_count_for_less(bench):
    paired, unpaired = estimate_power(bench, "quiz", difference=0.1, baseline=0.5)
    assert (paired.questions, paired.units, paired.clusters) == (100, 100, 50)
    # Variance 2 * 1/4 of each of 100, 1.3 times as much in pairs: (1.984 + 0.842) sqrt(0.65 / 100).
    assert paired.smallest == unpaired.smallest == pytest.approx(2.826 * 0.65**0.5 / 10, abs=5e-4)
    # (1.960 + 0.842)^2 = 7.849 times 0.65 / 0.1^2, and a little for Student's quantile.
    assert paired.needed == pytest.approx(7.849 * 65, abs=3)
    assert "no model seen" in paired.basis


def test_the_spread_is_estimated_from_the_scores_of_models(bench):
    bench.write_scores("a", [1.0, 0.0] * 50)
    bench.write_scores("b", [1.0, 0.0] * 45 + [0.0, 1.0] * 5)
    paired, unpaired = estimate_power(bench, "quiz", difference=None, baseline=0.5)
    assert paired.basis == unpaired.basis == "2 models' responses"
    # Every cluster has one right response of either model: no difference between clusters, so that
    # the smallest spread is taken, of one changed cluster in 102.
    assert paired.smallest == pytest.approx(2.826 * (1 / 102) ** 0.5 / 10, abs=5e-4)
    assert (paired.baseline, paired.power, paired.needed) == (0.5, None, None)
    assert unpaired.compared == "on other questions"


def test_a_fresh_home_falls_back_on_the_papers_counts(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    result = CliRunner().invoke(app, ["audit", "power", "codis", "--difference", "0.02", "--json"])
    assert result.exit_code == 0, result.output
    row = json.loads(result.stdout.splitlines()[0])
    assert (row["questions"], row["clusters"]) == (706, None)  # Table 2 of the paper
    assert row["basis"].startswith("the paper's count; bench tables questions codis")


def test_the_basis_of_an_estimate_is_printed_whole(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    output = CliRunner().invoke(app, ["audit", "power", "journeybench"]).stdout
    assert "questions journeybench builds the table; at worst, no model seen" in output
