"""Metrics of answered questions, and what their signatures say."""

from math import isnan

import pytest

from bench_assets.core.schema.signature import Signature
from bench_assets.evaluation import pipeline
from tests.flowing import QUESTIONS, exact, said, task
from tests.rows import prediction, question


def metrics(predictions, questions=QUESTIONS, **fields):
    scores = pipeline.score(task(**fields), questions, predictions, [])
    return pipeline.summarise(task(**fields), questions, predictions, scores)


def test_measures_are_taken_over_all_questions_and_each_category():
    rows = metrics(said(q1="1", q2="2", q3="9"))
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
    rows = {row.category: row for row in metrics(said(**responses))}
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


def test_each_model_and_condition_has_metrics_of_its_own():
    other = [prediction(question_id="t/1", model="n", text="9")]
    rows = [r for r in metrics(said(q1="1") + other, QUESTIONS[:1]) if r.category == "all"]
    assert [(r.model, r.value) for r in rows] == [("m", 1.0), ("n", 0.0)]


@pytest.mark.parametrize(
    ("change", "part"),
    [
        pytest.param({"version": 4}, "v4", id="task version"),
        pytest.param({"scorers": {"other": exact}}, "scorer:other", id="scorer"),
    ],
)
def test_a_signature_changes_with_the_task(change, part):
    before, after = (metrics(said(q1="1"), **fields)[0].signature for fields in ({}, change))
    assert part in after.split("|")
    assert part not in before.split("|")


def test_a_signature_says_how_much_people_had_not_decided():
    asked = [question(answer=("1",), labels={"open": "3"})]
    found = metrics([prediction(text="1")], asked)[0].signature
    assert Signature.parse(found).parts["open"] == "3"
    assert "open" not in Signature.parse(metrics(said(q1="1"))[0].signature).parts


def test_a_signature_names_data_prompts_model_and_judge():
    def signature(text="one?", prompt="p", decoding="m|t=0"):
        asked = [question(text=text, answer=("1",))]
        rows = [prediction(text="1", prompt_sha256=prompt, decoding=decoding)]
        return metrics(rows, asked)[0].signature

    assert signature() == signature()
    assert (
        len({signature(), signature(text="?"), signature(prompt="q"), signature(decoding="n")}) == 4
    )
    assert signature().startswith("t|v3|main|data:")
    assert signature().endswith("|model:m|t=0|judge:none|scorer:exact|n:1")
    assert "|model:unknown|" in signature(decoding="")
