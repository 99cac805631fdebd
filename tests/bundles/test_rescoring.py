"""Rescoring: digits are the same or not, the first difference is named; rules, judges, draws."""

from dataclasses import replace
from math import nan, nextafter
from typing import Any

import pytest

from bench_assets.bundles.rescoring import (
    find_divergences,
    judging_rules,
    metric_divergences,
)
from bench_assets.core.schema.chat import Prompt
from bench_assets.core.schema.rows import Judgement, Metric, Score
from bench_assets.core.schema.signature import format_judge_setup
from bench_assets.core.stats.means import ScoredPoint, mean
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import ByModel, Condition, Evaluation, Task
from tests.bundles.shelf import TASK, Right, Says, exam, judged, rescore
from tests.bundles.test_contents import METRIC
from tests.fakes.quiz import TASK as QUIZ
from tests.fakes.quiz import judge_right, quiz
from tests.fakes.rows import prediction


@pytest.mark.parametrize(
    ("was", "now", "same"),
    [
        pytest.param(0.1, nextafter(0.1, 1), True, id="the last bit, which processors differ in"),
        pytest.param(0.1, 0.1000000001, False, id="the tenth digit"),
        pytest.param(0.0, 1e-15, True, id="almost nothing"),
        pytest.param(nan, nan, True, id="no number both times"),
        pytest.param(nan, 0.0, False, id="a number where none was"),
        pytest.param(0.0, nan, False, id="none where a number was"),
    ],
)
def test_a_value_is_the_same_or_not(was, now, same):
    found = metric_divergences([replace(METRIC, value=was)], [replace(METRIC, value=now)])
    assert [one.field for one in found] == ([] if same else ["value"])


def _changed(metric: Metric, field: str, value: Any) -> Metric:
    return replace(metric, **{field: value})


@pytest.mark.parametrize("field", ["low", "high", "constant", "shuffled"])
def test_every_number_of_a_cell_counts(field):
    old = replace(METRIC, constant=0.1, shuffled=0.1)
    (found,) = metric_divergences([old], [_changed(old, field, 0.2)])
    assert (found.entry, found.field, found.after) == ("acc all", field, "0.2")


def test_a_cell_that_is_missing_or_new_is_named():
    other = replace(METRIC, category="easy")
    (gone,), (new,) = (
        metric_divergences([METRIC, other], [METRIC]),
        metric_divergences([], [METRIC]),
    )
    assert (gone.entry, gone.before, gone.after) == ("acc easy", "there", "none")
    assert (new.entry, new.before, new.after) == ("acc all", "none", "there")


def test_steps_are_named_in_the_order_in_which_they_happen():
    response = prediction(text="A")
    verdict = Judgement.of(response, judge="j", criterion="right", verdict=True, response="yes")
    one = Evaluation(
        task=QUIZ,
        model="m",
        condition="main",
        questions=[],
        predictions=[response],
        judgements=[verdict],
        scores=[Score.of(response, points=1.0)],
        metrics=[METRIC],
    )
    other = replace(
        one,
        predictions=[replace(response, text="B")],
        judgements=[replace(verdict, verdict=False)],
        scores=[Score.of(response, points=0.0)],
        metrics=[replace(METRIC, value=0.0)],
    )
    assert [p.step for p in find_divergences(one, other)] == [
        "responses",
        "verdicts",
        "points",
        "metrics",
    ]
    assert not find_divergences(one, one)


DRAWN = Task(
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
    measures={"share": lambda scored: mean(ScoredPoint(one.score.points) for one in scored)},
)


def model_judged():
    """Four responses, of which the rules cannot read one: that one a model judged."""
    questions = exam()
    predictions = pipeline.predict(TASK, questions, Says())
    return questions, predictions, judged(questions, predictions, Right())


def test_rules_judge_again_whatever_was_recorded():
    questions, predictions, _ = model_judged()
    ruled = pipeline.judge(TASK, questions, predictions, None)
    wrong = [replace(row, verdict=True, setup=format_judge_setup("rules", "")) for row in ruled]
    assert judging_rules(TASK, wrong) == "rules"
    again = rescore(TASK, questions, predictions, wrong)
    assert next(row for row in again.metrics if row.category == "all").value == 0.5
    found = find_divergences(replace(again, judgements=wrong), again)
    assert [one.step for one in found] == ["verdicts"]


def test_tables_that_are_older_than_setups_are_identified_by_their_rows():
    _, _, judgements = model_judged()
    assert judging_rules(TASK, [replace(row, setup="") for row in judgements]) == ""
    assert (
        judging_rules(TASK, [replace(row, setup="", prompt_sha256="") for row in judgements]) != ""
    )
    assert judging_rules(TASK, []) == "rules"


def test_a_judge_that_only_asks_a_model_is_no_rule():
    task = replace(DRAWN, judges={"default": ByModel(judge_right)})
    predictions = pipeline.predict(task, quiz(2), Says("ab" * 3))
    rows = pipeline.judge(task, quiz(2), predictions, Right())
    assert (
        judging_rules(
            task, [replace(row, setup=format_judge_setup("default", "0c")) for row in rows]
        )
        == ""
    )


def test_draws_come_out_again():
    questions = quiz(2)
    predictions = pipeline.predict(DRAWN, questions, Says(["a", "ab", "abc", "a", "", "abcde"]))
    again = rescore(DRAWN, questions, predictions)
    whole, *_ = again.metrics
    assert whole.value == pytest.approx((1 + 2 + 3 + 1 + 0 + 5) / 600)
    assert whole.n_scored == 6
    assert find_divergences(again, rescore(DRAWN, questions, predictions[::-1])) == []


@pytest.mark.parametrize("condition", ["main", "own"])
def test_constants_are_tried_on_the_questions_of_every_condition(condition):
    predictions = pipeline.predict(DRAWN, quiz(1), Says("abc"))
    predictions = [replace(row, condition=condition) for row in predictions]
    assert rescore(DRAWN, quiz(1), predictions).metrics[0].constant is not None
