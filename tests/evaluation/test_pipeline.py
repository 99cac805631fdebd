import re
from math import inf, isnan

import pytest

from bench_assets.core.schema.errors import BenchError, ModelError
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


def measure_responses(texts):
    """The overall metric of one response each to questions whose key is A."""
    questions = [
        question(question_id=f"t/{n}", kind="choice", options=("x", "y"), answer=("A",))
        for n in range(len(texts))
    ]
    predictions = [
        prediction(question_id=row.question_id, text=text)
        for row, text in zip(questions, texts, strict=True)
    ]
    scores = pipeline.score(TASK, questions, predictions, [])
    return pipeline.summarise(TASK, questions, predictions, scores)[0]


def test_a_metric_counts_unread_responses_as_wrong_and_as_right():
    metric = measure_responses(TEXTS)  # of ten 5 are right, 1 names its letter, 2 are unread
    assert (metric.value, metric.unread, metric.named, metric.asked_again) == (0.5, 0.2, 0.1, 0.0)
    assert (metric.if_unread_wrong, metric.if_unread_right) == (0.5, 0.7)


def test_a_metric_without_unread_responses_has_no_bounds():
    metric = measure_responses(TEXTS[:8])
    assert (metric.unread, metric.if_unread_wrong, metric.if_unread_right) == (0.0, None, None)


def measure_predictions(predictions, questions=QUESTIONS, **fields):
    measured_task = task(**fields)
    scores = pipeline.score(measured_task, questions, predictions, [])
    return pipeline.summarise(measured_task, questions, predictions, scores)


def test_empty_and_looping_responses_are_wrong_and_counted_as_no_answer():
    metric = measure_responses(["Answer: A", "", " \n", "dog " * 30])
    assert (metric.value, metric.n_no_answer, metric.unread) == (0.25, 3, 0.0)


def test_measures_are_taken_over_all_questions_and_each_category():
    rows = measure_predictions(responses_of(q1="1", q2="2", q3="9"))
    assert [
        (row.category, row.value, row.n_scored, row.n_unscored, row.n_failed) for row in rows
    ] == [("all", pytest.approx(2 / 3), 3, 0, 0), ("even", 1.0, 1, 0, 0), ("odd", 0.5, 2, 0, 0)]


@pytest.mark.parametrize(
    ("responses", "n_unscored"),
    [
        pytest.param({"q1": "1", "q3": ""}, {"all": 1, "even": 0, "odd": 1}, id="failed"),
        pytest.param({"q1": "1"}, {"all": 0, "even": 0, "odd": 0}, id="never asked"),
    ],
)
def test_questions_without_a_response_are_counted_as_failed_and_not_as_wrong(responses, n_unscored):
    rows = {row.category: row for row in measure_predictions(responses_of(**responses))}
    n_failed = {category: row.n_failed for category, row in rows.items()}
    assert n_failed == {"all": 2, "even": 1, "odd": 1}
    assert {category: row.n_unscored for category, row in rows.items()} == n_unscored
    assert rows["all"].value == rows["odd"].value == 1.0
    assert isnan(rows["even"].value)


def test_a_question_that_lacks_one_of_its_draws_counts_as_failed():
    draws = [
        prediction(question_id="t/1", sample=0, text="1"),
        prediction(question_id="t/1", sample=1, text="", error="timeout"),
    ]
    overall = measure_predictions(draws, QUESTIONS[:1])[0]
    assert (overall.value, overall.n_scored, overall.n_failed) == (1.0, 1, 1)


def test_a_signature_counts_the_questions_that_people_left_open():
    questions = [question(answer=("1",), labels={"open": "3"})]
    with_open = measure_predictions([prediction(text="1")], questions)[0]
    without_open = measure_predictions(responses_of(q1="1"))[0]
    assert Signature.parse(with_open.signature).parts["open"] == "3"
    assert "open" not in Signature.parse(without_open.signature).parts


def format_signature(text="one?", prompt="p", decoding="m|t=0"):
    """The signature of a metric of one right response."""
    questions = [question(text=text, answer=("1",))]
    predictions = [prediction(text="1", prompt_sha256=prompt, decoding=decoding)]
    return measure_predictions(predictions, questions)[0].signature


@pytest.mark.parametrize("changed", [{"text": "?"}, {"prompt": "q"}, {"decoding": "n"}])
def test_another_question_prompt_or_decoding_is_another_signature(changed):
    assert format_signature() == format_signature()
    assert format_signature(**changed) != format_signature()


def test_a_signature_names_data_prompts_model_and_judge():
    assert format_signature().startswith("t|v3|main|data:")
    assert format_signature().endswith("|model:m|t=0|judge:none|scorer:exact|n:1")
    assert "|model:unknown|" in format_signature(decoding="")


def fail_with(error):
    """A function that raises ``error`` whatever its arguments are."""

    def function(*_):
        raise error

    return function


@pytest.mark.parametrize(
    ("measure", "expected_message"),
    [
        pytest.param(
            fail_with(RuntimeError("boom")), "measure m: RuntimeError: boom", id="an error"
        ),
        pytest.param(lambda _: 0.5, "measure m: TypeError: expected a Mean, got 0.5", id="no Mean"),
        pytest.param(
            lambda _: Mean(value=inf, low=0.0, high=1.0, n_scored=3, n_unscored=0),
            "measure m: ValueError: expected finite numbers, got inf",
            id="infinity",
        ),
        pytest.param(
            lambda _: mean([ScoredPoint(60.0), ScoredPoint(40.0)]),
            "measure m: ValueError: the points have the mean 50 (expected points in [0, 1]). "
            "Divide them by their maximum.",
            id="points in per cent",
        ),
        pytest.param(
            fail_with(ModelError("on purpose")),
            "on purpose",
            id="an error of the project stays as it is",
        ),
    ],
)
def test_an_error_of_a_measure_names_the_measure(measure, expected_message):
    broken = task(measures={"m": measure})
    responses = responses_of(q1="1", q2="2", q3="3")
    scores = pipeline.score(broken, QUESTIONS, responses, [])
    with pytest.raises(BenchError, match=f"^{re.escape(expected_message)}"):
        pipeline.summarise(broken, QUESTIONS, responses, scores)


def test_an_error_of_a_prompt_names_its_condition_and_question():
    broken = Condition(prompt=fail_with(TypeError("no image")), about="")
    with pytest.raises(BenchError, match=r"^condition mine, the prompt of t/1: TypeError: no ima"):
        pipeline.predict(
            task(conditions={"mine": broken}), QUESTIONS, ScriptedModel("m", str), "mine"
        )


def test_an_error_of_a_model_judge_names_the_judge():
    broken = task(judges={"mine": ByModel(fail_with(KeyError("verdict")))})
    with pytest.raises(BenchError, match=r"^judge mine: KeyError: 'verdict'"):
        pipeline.judge(broken, QUESTIONS, responses_of(q1="1"), ScriptedModel("m", str), "mine")


def scorer_that_fails_at(text, error):
    """A scorer that raises ``error`` for one response and gives all others a point."""

    def score(pair, judgements):
        if pair.prediction.text == text:
            raise error
        return Score.of(pair.prediction, points=1.0)

    return score


def test_a_response_that_cannot_be_scored_is_noted_and_the_others_are_scored():
    task = Task(
        name="t",
        title="T",
        version=1,
        conditions={},
        scorers={"strict": scorer_that_fails_at("bad", RecursionError("deep"))},
        measures={"accuracy": lambda rows: mean(ScoredPoint(row.score.points) for row in rows)},
    )
    questions = [question(question_id=name) for name in ("bad", "good")]
    predictions = [prediction(question_id=name, text=name) for name in ("bad", "good")]

    scores = pipeline.score(task, questions, predictions, [])
    (overall,) = pipeline.summarise(task, questions, predictions, scores)

    assert [(score.points, score.note) for score in scores] == [
        (None, "cannot be scored: RecursionError: deep"),
        (1.0, ""),
    ]
    assert (overall.value, overall.n_scored, overall.n_unscored) == (1.0, 1, 1)


def judge_all_but_bad(pairs):
    """Rules that fail as a whole if one of the responses is "bad"."""
    if any(pair.prediction.text == "bad" for pair in pairs):
        raise ValueError("4,301 digits")
    return [
        Judgement.of(pair.prediction, judge="rules", criterion="c", verdict=True, response="")
        for pair in pairs
    ]


def test_a_response_that_the_rules_cannot_read_is_noted_and_the_others_are_judged():
    pairs = [answered(text, question_id=text) for text in ("bad", "good")]
    good, bad = ByRules(judge_all_but_bad).judgements(pairs, "strict")
    assert (good.question_id, good.verdict, good.error) == ("good", True, "")
    assert (bad.question_id, bad.verdict, bad.judge) == ("bad", None, "strict")
    assert bad.error == "the judge cannot read the response: ValueError: 4,301 digits"
