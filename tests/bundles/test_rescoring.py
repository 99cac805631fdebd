from dataclasses import replace
from math import nan, nextafter
from typing import Any

import pytest

from bench_assets.bundles.rescoring import find_divergences, judging_rules, metric_divergences
from bench_assets.core.schema.chat import Prompt
from bench_assets.core.schema.rows import Judgement, Score
from bench_assets.core.schema.signature import format_judge_setup
from bench_assets.core.stats.means import ScoredPoint, mean
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.baselines.constant_responses import STOCK_RESPONSES
from bench_assets.evaluation.task import ByModel, Condition, Evaluation, Task
from tests.bundles.shelf import TASK, AlwaysAReader, SequenceModel, judge, rescore, shelf_questions
from tests.bundles.test_contents import METRIC
from tests.fakes.quiz import TASK as QUIZ
from tests.fakes.quiz import judge_right, quiz
from tests.fakes.rows import prediction


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(0.1, nextafter(0.1, 1), id="the last bit, in which processors differ"),
        pytest.param(0.0, 1e-15, id="almost nothing"),
        pytest.param(nan, nan, id="NaN both times"),
    ],
)
def test_values_that_differ_by_rounding_only_do_not_diverge(before, after):
    old, new = replace(METRIC, value=before), replace(METRIC, value=after)
    assert metric_divergences([old], [new]) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(0.1, 0.1000000001, id="the tenth digit"),
        pytest.param(nan, 0.0, id="a number in place of NaN"),
        pytest.param(0.0, nan, id="NaN in place of a number"),
    ],
)
def test_values_that_differ_by_more_than_rounding_diverge(before, after):
    old, new = replace(METRIC, value=before), replace(METRIC, value=after)
    assert [divergence.field for divergence in metric_divergences([old], [new])] == ["value"]


@pytest.mark.parametrize("field", ["low", "high", "constant", "shuffled"])
def test_bounds_and_baselines_of_a_metric_are_compared(field):
    old = replace(METRIC, constant=0.1, shuffled=0.1)
    changed: dict[str, Any] = {field: 0.2}
    new = replace(old, **changed)
    (divergence,) = metric_divergences([old], [new])
    assert (divergence.entry, divergence.field, divergence.after) == ("acc all", field, "0.2")


def test_a_missing_metric_is_named():
    easy = replace(METRIC, category="easy")
    (missing,) = metric_divergences([METRIC, easy], [METRIC])
    assert (missing.entry, missing.before, missing.after) == ("acc easy", "there", "none")


def test_a_new_metric_is_named():
    (new,) = metric_divergences([], [METRIC])
    assert (new.entry, new.before, new.after) == ("acc all", "none", "there")


def test_divergences_are_in_the_order_of_the_steps():
    response = prediction(text="A")
    verdict = Judgement.of(response, judge="j", criterion="right", verdict=True, response="yes")
    before = Evaluation(
        task=QUIZ,
        model="m",
        condition="main",
        questions=[],
        predictions=[response],
        judgements=[verdict],
        scores=[Score.of(response, points=1.0)],
        metrics=[METRIC],
    )
    after = replace(
        before,
        predictions=[replace(response, text="B")],
        judgements=[replace(verdict, verdict=False)],
        scores=[Score.of(response, points=0.0)],
        metrics=[replace(METRIC, value=0.0)],
    )
    steps = [divergence.step for divergence in find_divergences(before, after)]
    assert steps == ["responses", "verdicts", "points", "metrics"]
    assert not find_divergences(before, before)


THREE_DRAWS_TASK = Task(
    name="quiz",
    title="a quiz",
    version=1,
    conditions={
        "main": Condition(prompt=lambda q: Prompt.of(q.text), about="x", samples=3),
        "own": Condition(prompt=lambda q: Prompt.of(q.text), about="x", own_questions=True),
    },
    scorers={
        "share": lambda answered, _: Score.of(
            answered.prediction, points=len(answered.prediction.text) / 100
        )
    },
    measures={"share": lambda scored: mean(ScoredPoint(row.score.points) for row in scored)},
)


def reader_judgements():
    """A reader's judgements of the responses that the rules cannot read."""
    questions = shelf_questions()
    predictions = pipeline.predict(TASK, questions, SequenceModel())
    return judge(questions, predictions, AlwaysAReader())


def test_rules_judge_again_and_differ_from_wrong_records():
    questions = shelf_questions()
    predictions = pipeline.predict(TASK, questions, SequenceModel())
    judgements = pipeline.judge(TASK, questions, predictions, model=None)
    setup = format_judge_setup("rules", setup="")
    wrong = [replace(row, verdict=True, setup=setup) for row in judgements]
    assert judging_rules(TASK, wrong) == "rules"

    rescored = rescore(TASK, questions, predictions, wrong)
    overall = {row.category: row for row in rescored.metrics}["all"]
    assert overall.value == 0.5

    divergences = find_divergences(replace(rescored, judgements=wrong), rescored)
    assert [divergence.step for divergence in divergences] == ["verdicts"]


def test_judgements_without_a_setup_are_by_rules_if_they_have_no_prompts():
    by_reader = [replace(row, setup="") for row in reader_judgements()]
    by_rules = [replace(row, prompt_sha256="") for row in by_reader]
    assert judging_rules(TASK, by_reader) == ""
    assert judging_rules(TASK, by_rules) == "rules"
    assert judging_rules(TASK, []) == "rules"


def test_a_judge_that_asks_a_model_has_no_rules():
    task = replace(THREE_DRAWS_TASK, judges={"default": ByModel(judge_right)})
    predictions = pipeline.predict(task, quiz(2), SequenceModel("ab" * 3))
    judgements = pipeline.judge(task, quiz(2), predictions, AlwaysAReader())
    setup = format_judge_setup("default", "0c")
    assert judging_rules(task, [replace(row, setup=setup) for row in judgements]) == ""


def test_all_draws_are_scored_again_in_any_order():
    questions = quiz(2)
    model = SequenceModel(["a", "ab", "abc", "a", "", "abcde"])
    predictions = pipeline.predict(THREE_DRAWS_TASK, questions, model)
    rescored = rescore(THREE_DRAWS_TASK, questions, predictions)
    overall, *_ = rescored.metrics
    assert overall.value == pytest.approx((1 + 2 + 3 + 1 + 0 + 5) / 600)  # per cent of six lengths
    assert overall.n_scored == 6
    reversed_rows = rescore(THREE_DRAWS_TASK, questions, predictions[::-1])
    assert find_divergences(rescored, reversed_rows) == []


@pytest.mark.parametrize("condition", ["main", "own"])
def test_constants_are_tried_on_the_questions_of_every_condition(condition):
    predictions = pipeline.predict(THREE_DRAWS_TASK, quiz(1), SequenceModel("abc"))
    predictions = [replace(row, condition=condition) for row in predictions]
    overall, *_ = rescore(THREE_DRAWS_TASK, quiz(1), predictions).metrics
    assert overall.constant == max(map(len, STOCK_RESPONSES)) / 100  # its points
