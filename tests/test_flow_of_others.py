"""What others wrote for a task may end with anything: the error says whose it was."""

import re

import pytest

from bench_assets.core.schema.errors import BenchError, ModelError
from bench_assets.core.stats.means import Mean, ScoredPoint, mean
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import ByModel, ByRules, Condition
from bench_resources.models.registry.baselines import ScriptedModel
from tests.flowing import QUESTIONS, said, task


def ends(why):
    def function(*_):
        raise why

    return function


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        pytest.param(ends(RuntimeError("boom")), "measure m: RuntimeError: boom", id="an error"),
        pytest.param(ends(AttributeError("no x")), "measure m: AttributeError: no x", id="a typo"),
        pytest.param(lambda _: 0.5, "measure m: TypeError: expected a Mean, got 0.5", id="none"),
        pytest.param(
            lambda _: Mean(float("inf"), 0.0, 1.0, 3, 0),
            "measure m: ValueError: expected finite numbers, got inf",
            id="infinity",
        ),
        pytest.param(
            lambda _: mean([ScoredPoint(60.0), ScoredPoint(40.0)]),
            "measure m: ValueError: the points have the mean 50 (expected points in [0, 1]). "
            "Divide them by their maximum.",
            id="points in per cent",
        ),
        pytest.param(ends(ModelError("on purpose")), "on purpose", id="said on purpose"),
    ],
)
def test_a_measure_is_named(measure, message):
    broken = task(measures={"m": measure})
    responses = said(q1="1", q2="2", q3="3")
    scores = pipeline.score(broken, QUESTIONS, responses, [])
    with pytest.raises(BenchError, match=f"^{re.escape(message)}"):
        pipeline.summarise(broken, QUESTIONS, responses, scores)


def test_a_prompt_is_named_with_its_condition_and_question():
    broken = Condition(prompt=ends(TypeError("no image")), about="")
    with pytest.raises(BenchError, match=r"^condition mine, the prompt of t/1: TypeError: no ima"):
        pipeline.predict(
            task(conditions={"mine": broken}), QUESTIONS, ScriptedModel("m", str), "mine"
        )


def test_a_judge_that_asks_a_model_is_named():
    broken = task(judges={"mine": ByModel(ends(KeyError("verdict")))})
    with pytest.raises(BenchError, match=r"^judge mine: KeyError: 'verdict'"):
        pipeline.judge(broken, QUESTIONS, said(q1="1"), ScriptedModel("m", str), "mine")


@pytest.mark.parametrize("why", [TypeError("a"), AttributeError("b"), RuntimeError("c")])
def test_a_response_that_somebodys_judge_cannot_read_is_its_own_error(why):
    broken = task(judges={"mine": ByRules(ends(why))})
    (row,) = pipeline.judge(broken, QUESTIONS, said(q1="1"), None, "mine")
    assert (row.judge, row.verdict) == ("mine", None)
    assert row.error == f"the judge cannot read the response: {type(why).__name__}: {why}"
