"""The check of a checkpoint against the one before, on tables of a home."""

import json
from pathlib import Path

import dagster as dg
import pytest

from bench_assets.asset_factory.evaluation_assets import evaluation_assets
from bench_assets.core.schema.rows import Question
from bench_assets.defs.checks.regression import regression_checks
from tests.fakes.quiz import TASK, questions_asset, quiz, run_for

OLD, NEW = "run/step-900@aaaaaaaa", "run/step-1000@bbbbbbbb"


class Lab:
    """A home folder with recorded models, the quiz and its check."""

    def __init__(self, home: Path, questions: list[Question]) -> None:
        self.home, self.questions = home, questions
        self.toml = ""

    def record(self, model: str, n_right: int) -> None:
        self.answer(model, set(range(n_right)))

    def answer(self, model: str, right: set[int]) -> None:
        lines = [
            {"question_id": q.question_id, "text": "x" if number in right else "y"}
            for number, q in enumerate(self.questions)
        ]
        file = self.home / f"{model.replace('/', '_')}.jsonl"
        file.write_text("\n".join(map(json.dumps, lines)))
        self.toml += f'[models."{model}"]\nkind = "recorded"\nfile = "{file.name}"\n'

    def evaluate(self, model: str, checkpoints: str = "") -> dg.AssetCheckEvaluation:
        (self.home / "bench.toml").write_text(f"[checkpoints]\n{checkpoints}\n{self.toml}")
        assets = [questions_asset(self.questions), *evaluation_assets(TASK)]
        result = run_for(model, [*assets, *regression_checks(TASK)], self.home)
        (evaluation,) = result.get_asset_check_evaluations()
        return evaluation


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = Lab(tmp_path, quiz(100, categories=2))
    lab.record(OLD, 80)
    lab.record(NEW, 50)
    lab.record("baseline", 50)
    return lab


def test_a_checkpoint_that_got_worse_fails_the_check(lab):
    first = lab.evaluate(OLD)
    assert (first.passed, first.description) == (
        True,
        "nothing to compare with: no earlier step in its run, and no other baseline",
    )
    worse = lab.evaluate(NEW)
    assert (worse.passed, worse.severity) == (False, dg.AssetCheckSeverity.WARN)
    # 30 of 100 changes are -1: 1.984 sqrt(21 / 99 / 100) = 0.091 around -0.3; 15 of 50: 0.132.
    first, *rest = worse.description.split("; ")
    assert first == (
        f"accuracy: 0.800 to 0.500, -0.300 (-0.391 to -0.209) against {OLD}, "
        "30 questions lost: quiz/50, quiz/51, quiz/52 ..."
    )
    assert rest == [
        f"accuracy of kind {n}: 0.800 to 0.500, -0.300 (-0.432 to -0.168) against {OLD}, "
        f"15 questions lost: quiz/{50 + n}, quiz/{52 + n}, quiz/{54 + n} ..."
        for n in (0, 1)
    ]
    assert worse.partition == NEW
    # Half of 5 % is for the first later step of a run, over three slices: 2.638 + 0.842 = 3.480.
    # The spread is 0.21: 3.480 sqrt(0.21 / 100) = 0.159, and 3.480² * 0.21 / 0.05² = 1018.
    assert (
        "| all | accuracy | 0.800 | 0.500 | -0.300 | -0.391 to -0.209 | worse | < 0.001 | 100 "
        "| 100 | 0.159 | 1018 | 30: quiz/50, quiz/51, quiz/52 | 0 |"
    ) in worse.metadata["comparisons"].value


def test_the_table_of_a_comparison_begins_with_what_is_worse(tmp_path):
    lab = Lab(tmp_path, quiz(40, categories=2))
    for model, right in ((OLD, {n for n in range(40) if n % 2}), (NEW, set(range(0, 40, 2)))):
        lab.answer(model, right)
    lab.evaluate(OLD)
    result = lab.evaluate(NEW)
    assert result.description.startswith("accuracy of kind 1: 1.000 to 0.000, -1.000 (")
    # Kind 0 and kind 1 change as a whole: no spread, and so the floor: 1/22, over 20; for all 1.
    # 2.093 sqrt(1 / 22 / 20) = 0.100; 2.023 sqrt(40 / 39 / 40) = 0.324.
    # 12.11 = 3.480² for the second step of a run and three slices, over 0.05²: 4,844 questions
    # would show it for all, and 12.11 / 22 / 0.05² = 221 for a kind.
    lost, gained = "quiz/1, quiz/3, quiz/5", "quiz/0, quiz/2, quiz/4"
    head, _, *rows = result.metadata["comparisons"].value.split("\n")
    assert head.split(" | ")[1:6] == ["slice", "metric", "before", "after", "difference"]
    assert rows == [
        f"| {OLD} | kind 1 | accuracy | 1.000 | 0.000 | -1.000 | -1.000 to -0.900 | worse "
        f"| < 0.001 | 20 | 20 | 0.166 | 221 | 20: {lost} | 0 |",
        f"| {OLD} | all | accuracy | 0.500 | 0.500 | +0.000 | -0.324 to +0.324 "
        f"| undecided | 1.000 | 40 | 40 | 0.550 | 4844 | 20: {lost} | 20: {gained} |",
        f"| {OLD} | kind 0 | accuracy | 0.000 | 1.000 | +1.000 | +0.900 to +1.000 | better "
        f"| < 0.001 | 20 | 20 | 0.166 | 221 | 0 | 20: {gained} |",
    ]


def test_severity_and_baseline_are_configured(lab):
    lab.evaluate("baseline")
    better = lab.evaluate(OLD, 'baseline = "baseline"\nseverity = "ERROR"')
    # 30 of 100 changes are +1: 1.984 sqrt(21 / 99 / 100) = 0.091 around 0.3;
    # 5 % over three slices: (2.394 + 0.842) sqrt(0.21 / 100) = 0.148.
    assert (better.passed, better.description) == (
        True,
        "no metric is worse; accuracy: 0.500 to 0.800, +0.300 (+0.209 to +0.391) against baseline; "
        "a change of 0.148 is detected with a power of 80 %",
    )
    worse = lab.evaluate(NEW, 'baseline = "baseline"\nseverity = "ERROR"')
    assert (worse.passed, worse.severity) == (False, dg.AssetCheckSeverity.ERROR)
    assert "against baseline" not in worse.description


def test_a_predecessor_that_answered_other_questions_is_not_compared_with(lab):
    lab.evaluate(OLD)
    lab.questions = quiz(101, categories=2)
    lab.toml = ""
    lab.record(NEW, 50)
    result = lab.evaluate(NEW)
    assert result.passed
    assert result.description == (
        f"not comparable with {OLD}: other questions;"
        f" bench evaluate quiz --model {OLD} --model {NEW}"
    )
