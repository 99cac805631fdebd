from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench_assets.comparison.results import HomeResults
from bench_assets.core.schema.rows import Metric, Question, Score
from bench_assets.core.schema.signature import with_partial
from bench_assets.workspace.console.output import format_results
from bench_resources.config.bench_toml import Settings
from bench_resources.tables.parquet import TableFiles
from tests.comparison.sides import build_evaluation
from tests.fakes.quiz import TASK, quiz

N = 40
READ_BY_RULES = replace(TASK, answer_form=lambda question: None)
ALL_READ: dict[str, Any] = {"unread": 0.0, "if_unread_wrong": None, "if_unread_right": None}
SOME_UNREAD: dict[str, Any] = {"unread": 0.05, "if_unread_wrong": 0.75, "if_unread_right": 0.8}


class Home:
    """A home with models that answer the first questions of a quiz rightly."""

    def __init__(self, folder: Path) -> None:
        self.tables = TableFiles(folder=str(folder / "tables"))
        self.results = HomeResults(Settings(home=folder), self.tables, {"quiz": READ_BY_RULES})
        self.tables.write(["quiz", "questions"], quiz(N), Question)

    def evaluate(self, model: str, n_right: int, **values: Any) -> list[Metric]:
        """Store the scores and metrics of a model; ``values`` replace fields of its metrics."""
        texts = {f"quiz/{n}": "x" if n < n_right else "y" for n in range(N)}
        evaluation = build_evaluation(quiz(N), texts, name=model)
        rows = [replace(row, **(ALL_READ | values)) for row in evaluation.metrics]
        scores = [replace(row, unread=False) for row in evaluation.scores]
        self.tables.write(["quiz", "scores"], scores, Score, model)
        self.tables.write(["quiz", "metrics"], rows, Metric, model)
        return rows

    def facts(self, model: str, n_right: int, **values: Any) -> dict[str, str]:
        """Evaluate a model, and return the facts of its result by label."""
        (result,) = self.results.of(self.evaluate(model, n_right, **values))
        return dict(result.facts)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_a_number_is_compared_with_the_best_blind_baseline(home: Home) -> None:
    assert home.facts("a", 30, constant=None)["best blind"] == "unknown"
    home.evaluate("random", 12)
    home.evaluate("tiny-vlm-blind", 20)
    assert home.facts("a", 38)["best blind"] == "0.500, tiny-vlm-blind: better"
    assert home.facts("b", 22)["best blind"] == "0.500, tiny-vlm-blind: not shown to be better"
    assert home.facts("c", 2)["best blind"] == "0.500, tiny-vlm-blind: worse"


def test_a_number_is_compared_with_the_best_constant_response(home: Home) -> None:
    home.evaluate("tiny-vlm-blind", 20)
    constant = home.facts("a", 38, constant=0.6)["best blind"]
    assert constant == "0.600, the best constant response: better"


def test_a_step_is_compared_with_the_one_before_it(home: Home) -> None:
    assert "previous" not in home.facts("run/step-100", 20)
    # 10 of 40 gained: 2.023 sqrt(7.5 / 39 / 40) = 0.140 around 0.25; half of the run's 5 %
    previous = home.facts("run/step-200", 30)["previous"]
    assert previous == "0.500, run/step-100: better (+0.250, +0.110 to +0.390)"


def test_a_step_that_is_not_comparable_is_named_with_a_command(home: Home) -> None:
    home.evaluate("run/step-200", 30, signature="quiz|v1|main|data:0|n:9")
    assert home.facts("run/step-300", 30)["previous"] == (
        "run/step-200: not comparable: other number of questions, prompt, scorer;"
        " bench evaluate quiz --model run/step-200 --model run/step-300 --scorer exact"
    )


def test_unread_responses_have_bounds_and_commands(home: Home) -> None:
    (result,) = home.results.of(home.evaluate("random", 30, **SOME_UNREAD))
    assert (
        "unread",
        "5.0 % of the responses, so accuracy is between 0.750 and 0.800",
    ) in result.facts
    assert [text for label, text in result.facts if label == "next"] == [
        "bench annotate verdicts quiz --n 50 --model random",
        "bench evaluate quiz --model random --reader MODEL",
        "bench report --open",
    ]


def test_a_partial_result_is_marked_and_has_the_command_that_completes_it(home: Home) -> None:
    partial_rows = [
        replace(row, signature=with_partial(row.signature, "4 of 40 questions"))
        for row in home.evaluate("random", 30)
    ]
    (result,) = home.results.of(partial_rows)
    assert result.title == "random on quiz, mini edition, PARTIAL: 4 of 40 questions"
    assert ("next", "bench evaluate quiz --model random") in result.facts


def test_likelihoods_are_not_completed_by_questions_without_options(home: Home) -> None:
    partial_rows = [
        replace(row, signature=with_partial(f"{row.signature}|elicit=likelihood", "4 of 40"))
        for row in home.evaluate("run/step-100+likelihood", 30)
    ]
    (result,) = home.results.of(partial_rows)
    assert [text for label, text in result.facts if label == "next"] == ["bench report --open"]


@pytest.mark.parametrize("n_models", [1, 3, 12])
def test_the_numbers_of_all_models_fit_a_screen(home: Home, n_models: int) -> None:
    names = [f"a-rather-long-name-of-a-run/step-{n}00" for n in range(n_models)]
    rows = []
    for name in names:
        rows += home.evaluate(name, 30, **SOME_UNREAD, n_rejected=7)
    lines = format_results(home.results.of(rows), 80).splitlines()
    assert max(len(line) for line in lines if "bench " not in line) <= 80
    assert len(lines) <= 30
    missing = [n for n in range(n_models) if not any(f"step-{n}00" in line for line in lines)]
    assert missing == []
