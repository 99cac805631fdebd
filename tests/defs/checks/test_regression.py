import json
from collections.abc import Iterable
from pathlib import Path

import dagster as dg
import numpy as np
import pytest
from scipy.stats import t

from bench_assets.asset_factory.evaluation_assets import evaluation_assets
from bench_assets.comparison.verdicts import compare_scores, decide
from bench_assets.core.schema.rows import Question, Score
from bench_assets.core.schema.training_runs import comparison_models
from bench_assets.defs.checks.regression import regression_checks
from tests.cases import read_cases
from tests.comparison.sides import build_scores
from tests.fakes.quiz import TASK, questions_asset, quiz, run_for

OLD, NEW = "run/step-900@aaaaaaaa", "run/step-1000@bbbbbbbb"


class Lab:
    """A home folder with recorded models, the quiz and its check."""

    def __init__(self, home: Path, questions: list[Question]) -> None:
        self.home, self.questions = home, questions
        self.models_toml = ""

    def record(self, model: str, n_right: int) -> None:
        """Record a model that is right on the first questions."""
        self.record_right(model, set(range(n_right)))

    def record_right(self, model: str, right_indices: set[int]) -> None:
        """Record a model that is right on the questions with given indices."""
        lines = [
            {"question_id": question.question_id, "text": "x" if index in right_indices else "y"}
            for index, question in enumerate(self.questions)
        ]
        file = self.home / f"{model.replace('/', '_')}.jsonl"
        file.write_text("\n".join(map(json.dumps, lines)))
        self.models_toml += f'[models."{model}"]\nkind = "recorded"\nfile = "{file.name}"\n'

    def evaluate(self, model: str, checkpoints: str = "") -> dg.AssetCheckEvaluation:
        """Evaluate a model with settings of [checkpoints], and return the result of the check."""
        (self.home / "bench.toml").write_text(f"[checkpoints]\n{checkpoints}\n{self.models_toml}")
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


def test_the_first_checkpoint_of_a_run_is_not_compared(lab):
    result = lab.evaluate(OLD)
    assert result.passed
    assert result.description == (
        "nothing to compare with: no earlier step in its run, and no other baseline"
    )


def test_a_worse_checkpoint_fails_the_check(lab):
    lab.evaluate(OLD)
    worse = lab.evaluate(NEW)
    assert (worse.passed, worse.severity) == (False, dg.AssetCheckSeverity.WARN)
    # 30 of 100 changes are -1: 1.984 sqrt(21 / 99 / 100) = 0.091 around -0.3; 15 of 50: 0.132.
    overall, *slices = worse.description.split("; ")
    assert overall == (
        f"accuracy: 0.800 to 0.500, -0.300 (-0.391 to -0.209) against {OLD}, "
        "30 questions lost: quiz/50, quiz/51, quiz/52 ..."
    )
    assert slices == [
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


def test_the_table_of_a_comparison_begins_with_worse_slices(tmp_path):
    lab = Lab(tmp_path, quiz(40, categories=2))
    lab.record_right(OLD, set(range(1, 40, 2)))
    lab.record_right(NEW, set(range(0, 40, 2)))
    lab.evaluate(OLD)
    result = lab.evaluate(NEW)
    assert str(result.description).startswith("accuracy of kind 1: 1.000 to 0.000, -1.000 (")
    # Kind 0 and kind 1 change as a whole: no spread, and so the floor: 1/22, over 20; for all 1.
    # 2.093 sqrt(1 / 22 / 20) = 0.100; 2.023 sqrt(40 / 39 / 40) = 0.324.
    # 12.11 = 3.480² for the second step of a run and three slices, over 0.05²: 4,844 questions
    # would show it for all, and 12.11 / 22 / 0.05² = 221 for a kind.
    lost, gained = "quiz/1, quiz/3, quiz/5", "quiz/0, quiz/2, quiz/4"
    header, _, *rows = str(result.metadata["comparisons"].value).split("\n")
    assert " | slice | metric | before | after | difference | " in header
    assert rows == [
        f"| {OLD} | kind 1 | accuracy | 1.000 | 0.000 | -1.000 | -1.000 to -0.900 | worse "
        f"| < 0.001 | 20 | 20 | 0.166 | 221 | 20: {lost} | 0 |",
        f"| {OLD} | all | accuracy | 0.500 | 0.500 | +0.000 | -0.324 to +0.324 "
        f"| undecided | 1.000 | 40 | 40 | 0.550 | 4844 | 20: {lost} | 20: {gained} |",
        f"| {OLD} | kind 0 | accuracy | 0.000 | 1.000 | +1.000 | +0.900 to +1.000 | better "
        f"| < 0.001 | 20 | 20 | 0.166 | 221 | 0 | 20: {gained} |",
    ]


def test_a_checkpoint_is_compared_with_the_configured_baseline(lab):
    lab.evaluate("baseline")
    better = lab.evaluate(OLD, 'baseline = "baseline"')
    # 30 of 100 changes are +1: 1.984 sqrt(21 / 99 / 100) = 0.091 around 0.3;
    # 5 % over three slices: (2.394 + 0.842) sqrt(0.21 / 100) = 0.148.
    assert (better.passed, better.description) == (
        True,
        "no metric is worse; accuracy: 0.500 to 0.800, +0.300 (+0.209 to +0.391) against baseline; "
        "a change of 0.148 is detected with a power of 80 %",
    )


def test_the_severity_of_a_worse_checkpoint_is_configured(lab):
    lab.evaluate(OLD)
    worse = lab.evaluate(NEW, 'severity = "ERROR"')
    assert (worse.passed, worse.severity) == (False, dg.AssetCheckSeverity.ERROR)


def test_a_predecessor_with_other_questions_is_not_compared(lab):
    lab.evaluate(OLD)
    lab.questions = quiz(101, categories=2)
    lab.models_toml = ""
    lab.record(NEW, 50)
    result = lab.evaluate(NEW)
    assert result.passed
    assert result.description == (
        f"not comparable with {OLD}: other questions;"
        f" bench evaluate quiz --model {OLD} --model {NEW}"
    )


def compare(questions: list[Question], before: Iterable[float], after: Iterable[float]):
    old, new = build_scores(questions, before, OLD), build_scores(questions, after, NEW)
    comparisons = decide(compare_scores(TASK, questions, old, new), smallest_change=0.1)
    return {comparison.category: comparison for comparison in comparisons}


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        pytest.param([1] * 30 + [0] * 170, [0] * 200, "worse", id="30 lost, none gained"),
        pytest.param([0] * 200, [1] * 30 + [0] * 170, "better", id="30 gained, none lost"),
        pytest.param([1, 0] * 20 + [1] * 260, [0, 1] * 20 + [1] * 260, "undecided",
                     id="20 lost, 20 gained of 300"),
        pytest.param([1, 0] * 5, [0, 1] * 5, "undecided", id="5 lost, 5 gained of 10"),
        pytest.param([1] * 5, [1] * 5, "undecided", id="five questions, no change"),
        pytest.param([0.9] * 40 + [0.2, 0.3] * 20, [0.6] * 40 + [0.3, 0.2] * 20, "worse",
                     id="points in between: 0.3 less on 40 of 80"),
    ],
)  # fmt: skip
def test_a_planted_difference_gets_its_verdict(before, after, verdict):
    assert compare(quiz(len(before)), before, after)["all"].verdict == verdict


def test_p_values_are_corrected_for_the_number_of_metrics():
    # 6 changes, all lost: 1/128 of ten questions, by signs, and less by t. Of sixty t is
    # 0.1 / sqrt(60 / 59 * (6 - 36 / 60)) * 60 = 2.5604. Seven slices, five without a change.
    questions = quiz(60, categories=6)
    before = [1.0 if n % 6 == 0 and n < 36 else 0.0 for n in range(60)]
    comparisons = compare(questions, before, [0.0] * 60)
    assert comparisons["kind 0"].p == pytest.approx(7 / 128)
    assert comparisons["all"].p == pytest.approx(6 * 2 * t.sf(2.56038, 59), rel=1e-4)
    assert comparisons["all"].verdict == "undecided"


def test_questions_without_points_on_either_side_are_left_out():
    questions = quiz(3)
    before = build_scores(questions, [1, 1, 1], OLD)
    scored = build_scores(questions[:1], [1], NEW)
    unscored = Score(question_id="quiz/1", model=NEW, condition="main", points=None)
    overall, *_ = compare_scores(TASK, questions, before, [*scored, unscored])
    assert (overall.n, overall.change) == (1, 0)
    assert compare_scores(TASK, questions, before, [unscored]) == []


def test_samples_of_a_question_are_averaged():
    questions = quiz(1)
    before = build_scores(questions * 4, [1, 1, 0, 0], OLD)
    after = build_scores(questions * 4, [1, 0, 0, 0], NEW)
    overall, *_ = compare_scores(TASK, questions, before, after)
    assert (overall.n, overall.change) == (1, -0.25)


@pytest.mark.parametrize(
    ("group_size", "is_graded"),
    [
        pytest.param(1, False, id="right or wrong"),
        pytest.param(1, True, id="points in between"),
        pytest.param(5, False, id="five questions on a story"),
    ],
)
@pytest.mark.long
def test_chance_is_rarely_taken_for_a_difference(group_size, is_graded):
    questions = quiz(100, categories=3, group=group_size)
    draws = [
        draw_points(np.random.default_rng(seed), group_size, is_graded=is_graded)
        for seed in range(100)
    ]
    verdicts = [
        {comparison.verdict for comparison in compare(questions, before, after).values()}
        for before, after in draws
    ]
    n_false_alarms = sum(not names.isdisjoint({"better", "worse"}) for names in verdicts)
    # At 5 % for all metrics together, more than 10 of 100 come about once in 87 times.
    assert n_false_alarms <= 10


def draw_points(rng: np.random.Generator, group_size: int, *, is_graded: bool) -> np.ndarray:
    """Points of two equally good models on 100 questions; those of a group are equally easy."""
    easiness = np.repeat(rng.random(100 // group_size), group_size)
    deviations = np.repeat(rng.normal(0, 0.3, (2, 100 // group_size)), group_size, axis=1)
    chances = np.clip(easiness + deviations, 0, 1)
    return chances if is_graded else rng.random((2, 100)) < chances


@pytest.mark.parametrize(
    ("model", "baseline", "predecessors"), read_cases(__file__, "compared_with.jsonl")
)
def test_a_checkpoint_is_compared_with_its_predecessor_and_the_baseline(
    model, baseline, predecessors
):
    times = {
        "r/step-100@11111111": 1.0,
        "r/step-100@22222222": 2.0,
        "r/step-900@00000000": 3.0,
        "tiny/step-3": 0.0,
        "tiny/7b": 0.0,
        "random": 0.0,
        f"o/m/step-3@{'b' * 40}": 0.0,
        f"o/m/step-20@{'a' * 40}": 0.0,
    }
    assert comparison_models(model, times, times.__getitem__, baseline) == predecessors


def test_the_time_of_the_only_model_of_a_step_is_not_read():
    no_times: dict[str, float] = {}
    predecessor = "r/s-1@bbbbbbbb"
    models = comparison_models("r/s-9@aaaaaaaa", [predecessor], no_times.__getitem__, baseline="")
    assert models == [predecessor]
