"""The shares and bounds beside a metric."""

import re
from math import isnan

import pytest

from bench_assets.core.images.charts import Bar, bar_chart, line_ends
from bench_assets.core.schema.errors import BenchError, ModelError
from bench_assets.core.schema.metric_text import (
    format_interval,
    format_value,
    is_hidden,
    unread_bounds,
)
from bench_assets.core.schema.rows import Judgement, Score
from bench_assets.core.schema.signature import Signature
from bench_assets.core.stats.means import Mean, ScoredPoint, mean
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import ByModel, ByRules, Condition, Task
from bench_assets.suites.cogbench.vqa.task import TASK
from bench_resources.models.registry.baselines import ScriptedModel
from tests.fakes.flowing import QUESTIONS, responses_of, task
from tests.fakes.rows import answered, prediction, question

TEXTS = ["Answer: A"] * 5 + ["Answer: B"] * 2 + ["B) seems to fit"] + ["What a strange place."] * 2


def measured(texts):
    questions = [
        question(question_id=f"t/{n}", kind="choice", options=("x", "y"), answer=("A",))
        for n in range(len(texts))
    ]
    predictions = [
        prediction(question_id=row.question_id, text=t)
        for row, t in zip(questions, texts, strict=True)
    ]
    scores = pipeline.score(TASK, questions, predictions, [])
    return pipeline.summarise(TASK, questions, predictions, scores)[0]


def test_beside_shares_a_metric_has_bounds_instead_of_an_interval():
    hidden, known = measured(TEXTS), measured(TEXTS[:8])
    assert (hidden.value, hidden.unread, hidden.named, hidden.asked_again) == (0.5, 0.2, 0.1, 0.0)
    assert (hidden.if_unread_wrong, hidden.if_unread_right) == (0.5, 0.7)
    assert unread_bounds(hidden) == (0.5, 0.7)
    assert is_hidden(hidden)
    assert format_value(hidden) == "0.500 to 0.700"
    assert hidden.low < hidden.high
    assert format_interval(hidden) == ""
    assert format_interval(known) == f"{known.low:.3f} to {known.high:.3f}"
    assert line_ends(hidden) == (0.5, 0.7)
    assert line_ends(known) == (known.low, known.high)
    assert ">0.500 to 0.700 n=10<" in bar_chart([Bar(label="x", row=hidden, full=1.0)], "")


def test_a_tenth_may_be_unread():
    row = measured(TEXTS[:9])
    assert row.unread == 1 / 9
    assert is_hidden(row)
    assert not is_hidden(measured(["Answer: A", *TEXTS[:9]]))
    row = measured(TEXTS[:8])
    assert (row.unread, row.if_unread_wrong, row.if_unread_right) == (0.0, None, None)
    assert unread_bounds(row) is None
    assert format_value(row) == "0.625"


# Metrics of answered questions, and what their signatures say.


def metrics(predictions, questions=QUESTIONS, **fields):
    scores = pipeline.score(task(**fields), questions, predictions, [])
    return pipeline.summarise(task(**fields), questions, predictions, scores)


def test_silence_is_wrong_and_counted_as_no_answer():
    number = measured(["Answer: A", "", " \n", "dog " * 30])
    assert (number.value, number.n_no_answer, number.unread) == (0.25, 3, 0.0)


def test_measures_are_taken_over_all_questions_and_each_category():
    rows = metrics(responses_of(q1="1", q2="2", q3="9"))
    assert [(r.category, r.value, r.n_scored, r.n_unscored, r.n_failed) for r in rows] == [
        ("all", pytest.approx(2 / 3), 3, 0, 0),
        ("even", 1.0, 1, 0, 0),
        ("odd", 0.5, 2, 0, 0),
    ]


@pytest.mark.parametrize(
    ("responses", "n_unscored"),
    [
        pytest.param({"q1": "1", "q3": ""}, {"all": 1, "even": 0, "odd": 1}, id="failed"),
        pytest.param({"q1": "1"}, {"all": 0, "even": 0, "odd": 0}, id="never asked"),
    ],
)
def test_questions_without_a_response_are_counted_as_failed_and_not_as_wrong(responses, n_unscored):
    rows = {row.category: row for row in metrics(responses_of(**responses))}
    assert {c: r.n_failed for c, r in rows.items()} == {"all": 2, "even": 1, "odd": 1}
    assert {c: r.n_unscored for c, r in rows.items()} == n_unscored
    assert rows["all"].value == rows["odd"].value == 1.0
    assert isnan(rows["even"].value)


def test_a_question_that_lacks_one_of_its_draws_counts_as_failed():
    drawn = [
        prediction(question_id="t/1", sample=0, text="1"),
        prediction(question_id="t/1", sample=1, text="", error="timeout"),
    ]
    overall = metrics(drawn, QUESTIONS[:1])[0]
    assert (overall.value, overall.n_scored, overall.n_failed) == (1.0, 1, 1)


def test_a_signature_says_how_much_people_had_not_decided():
    questions = [question(answer=("1",), labels={"open": "3"})]
    found = metrics([prediction(text="1")], questions)[0].signature
    assert Signature.parse(found).parts["open"] == "3"
    assert "open" not in Signature.parse(metrics(responses_of(q1="1"))[0].signature).parts


def test_a_signature_names_data_prompts_model_and_judge():
    def signature(text="one?", prompt="p", decoding="m|t=0"):
        questions = [question(text=text, answer=("1",))]
        rows = [prediction(text="1", prompt_sha256=prompt, decoding=decoding)]
        return metrics(rows, questions)[0].signature

    assert signature() == signature()
    assert (
        len({signature(), signature(text="?"), signature(prompt="q"), signature(decoding="n")}) == 4
    )
    assert signature().startswith("t|v3|main|data:")
    assert signature().endswith("|model:m|t=0|judge:none|scorer:exact|n:1")
    assert "|model:unknown|" in signature(decoding="")


# What others wrote for a task may end with anything: the error says whose it was.


def ends(why):
    def function(*_):
        raise why

    return function


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        pytest.param(ends(RuntimeError("boom")), "measure m: RuntimeError: boom", id="an error"),
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
    responses = responses_of(q1="1", q2="2", q3="3")
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
        pipeline.judge(broken, QUESTIONS, responses_of(q1="1"), ScriptedModel("m", str), "mine")


# A response that cannot be read is that item's error, whoever reads it, and ends nothing.


def fails_at(text, why):
    """A scorer that cannot read one response."""

    def score(pair, judgements):
        if pair.prediction.text == text:
            raise why
        return Score.of(pair.prediction, points=1.0)

    return score


def test_a_response_that_cannot_be_scored_is_its_own_error_and_ends_nothing():
    task = Task(
        name="t",
        title="T",
        version=1,
        conditions={},
        scorers={"strict": fails_at("bad", RecursionError("deep"))},
        measures={"accuracy": lambda rows: mean(ScoredPoint(row.score.points) for row in rows)},
    )
    questions = [question(question_id=name) for name in ("bad", "good")]
    predictions = [
        prediction(question_id=question.question_id, text=question.question_id)
        for question in questions
    ]
    scores = pipeline.score(task, questions, predictions, [])
    assert [(score.points, score.note) for score in scores] == [
        (None, "cannot be scored: RecursionError: deep"),
        (1.0, ""),
    ]
    (overall,) = pipeline.summarise(task, questions, predictions, scores)
    assert (overall.value, overall.n_scored, overall.n_unscored) == (1.0, 1, 1)


def test_a_response_that_the_rules_cannot_read_is_its_own_error_and_ends_nothing():
    def judge(pairs):
        if any(pair.prediction.text == "bad" for pair in pairs):
            raise ValueError("4,301 digits")
        return [
            Judgement.of(pair.prediction, judge="rules", criterion="c", verdict=True, response="")
            for pair in pairs
        ]

    pairs = [answered(text, question_id=text) for text in ("bad", "good")]
    rows = ByRules(judge).judgements(pairs)
    assert [(row.question_id, row.verdict, row.error) for row in rows] == [
        ("good", True, ""),
        ("bad", None, "the judge cannot read the response: ValueError: 4,301 digits"),
    ]
