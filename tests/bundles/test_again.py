"""The right half once more: by rules, by what a model judged, with draws."""

from dataclasses import replace

import pytest

from bench_assets.bundles.rescoring import find_divergences, judging_rules
from bench_assets.core.schema.chat import Prompt
from bench_assets.core.schema.rows import Score
from bench_assets.core.schema.signature import format_judge_setup
from bench_assets.core.stats.means import ScoredPoint, mean
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import ByModel, Condition, Task
from tests.bundles.shelf import TASK, Right, Says, exam, judged, rescore
from tests.fakes.quiz import judge_right, quiz

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


def test_what_a_model_judged_is_taken_as_it_was_recorded():
    questions, predictions, judgements = model_judged()
    assert judging_rules(TASK, judgements) == ""
    again = rescore(TASK, questions, predictions, judgements)
    assert again.judgements == judgements
    whole = next(row for row in again.metrics if row.category == "all")
    assert whole.value == 0.75  # the reader finds the right letter in "no idea"
    assert "judge:reader:judge|" in whole.signature


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
