"""Judges beside the judge named people: verdicts in a form become figures, by pencil."""

from dataclasses import replace

import pytest

from bench_assets.annotation.responses.units import response_name
from bench_assets.annotation.tasks import Answer, unit_id
from bench_assets.audit.framework.evidence import PEOPLE, PRECISION, RECALL_PEOPLE
from bench_assets.audit.judges.human_agreement import (
    PeopleVerdicts,
    figures_of_people,
    majority_labels,
)
from bench_assets.comparison.judge_agreement import agreement_of, agreements, judges_with_agreement
from bench_assets.core.schema.rows import Judgement, Prediction, Question
from bench_assets.suites.codis.task import TASK
from bench_resources.tables.parquet import TableFiles
from tests.annotation.said import answer
from tests.audit.judged import queries
from tests.rows import prediction

ASKED = queries(8)
FORM = TASK.response_tasks[0]
SIGNED = "codis|v4|main|data:0c|model:m|judge:{}|scorer:strict|n:8"


def said(model="m", says="response"):
    return [prediction(question_id=q.question_id, model=model, text=says) for q in ASKED]


def judged(rows, right, judge="gpt"):
    return [
        Judgement.of(row, judge=judge, criterion="correct", verdict=number in right, response="")
        for number, row in enumerate(rows)
    ]


def answers(right, says="response", n=8):
    return [
        answer(
            unit_id(q.question_id, response_name(says)),
            verdict="yes" if number in right else "no",
        )
        for number, q in enumerate(ASKED[:n])
    ]


def figures(responses, given):
    questions = {q.question_id: q for q in ASKED}
    found = figures_of_people(TASK, questions, responses, FORM.to_rows(given), "2026-11-22")
    return {(one.judge, one.figure): one for one in found}


def test_kappa_precision_and_recall_are_those_of_the_table():
    """People call 4 of 8 right; the judge 3 of these and 1 other: 6 of 8 alike, half by chance."""
    found = figures([PeopleVerdicts(said(), judged(said(), {0, 1, 2, 4}))], answers({0, 1, 2, 3}))
    kappa = found["gpt", PEOPLE]
    assert (kappa.value, kappa.n, kappa.task, kappa.at) == (0.5, 8, "codis", "2026-11-22")
    assert kappa.low < 0.5 < kappa.high
    assert found["gpt", PRECISION].value == found["gpt", RECALL_PEOPLE].value == 0.75


@pytest.mark.parametrize(
    ("right", "value"),
    [
        pytest.param({0, 1, 2, 3}, 1.0, id="a judge who sees what people see"),
        pytest.param({0, 1, 4, 5}, 0.0, id="a judge who says yes to half of each"),
        pytest.param(set(range(8)), 0.0, id="a judge who says yes to everything"),
        pytest.param({4, 5, 6, 7}, -1.0, id="a judge who says the contrary"),
    ],
)
def test_a_judge_who_does_not_look_is_seen_as_one(right, value):
    found = figures([PeopleVerdicts(said(), judged(said(), right))], answers({0, 1, 2, 3}))
    assert found["gpt", PEOPLE].value == pytest.approx(value)


def test_verdicts_on_questions_that_were_removed_since_are_left_out():
    responses = [PeopleVerdicts(said(), judged(said(), {0, 1, 2, 3}))]
    verdicts = FORM.to_rows(answers({0, 1, 2, 3}))
    left = {q.question_id: q for q in ASKED[:6]}
    found = figures_of_people(TASK, left, responses, verdicts, "2026-11-22")
    assert {(one.figure, one.value, one.n) for one in found if one.figure == PEOPLE} == {
        (PEOPLE, 1.0, 6)
    }


def test_a_verdict_goes_with_whoever_said_the_same_word_for_word():
    rows = [*said("a"), *said("b"), *said("c", "Response")]
    labels = majority_labels(FORM.to_rows(answers({0}, n=1)), rows)
    assert [(one.model, one.correct) for one in labels] == [("a", True), ("b", True)]


def test_of_responses_that_nobody_judged_nothing_is_known():
    assert figures([PeopleVerdicts(said(says="new"), judged(said(), {0}))], answers({0})) == {}
    assert figures([PeopleVerdicts(said(), [])], answers({0})) == {}


@pytest.fixture
def tables(tmp_path):
    kept = TableFiles(folder=str(tmp_path / "tables"))
    kept.write(["codis", "questions"], ASKED, Question)
    kept.write(["codis", "predictions"], said(), Prediction, "m")
    kept.write(["codis", "judgements"], judged(said(), {0, 1, 2, 4}), Judgement, "m")
    return kept


def test_the_question_mark_becomes_a_figure(tables):
    assert (judges_with_agreement(tables, [TASK]), agreements(tables, [TASK])) == (set(), {})
    tables.write(FORM.table("answers").split("/"), answers({0, 1, 2, 3}), Answer)
    assert judges_with_agreement(tables, [TASK]) == {("codis", "gpt")}
    known = agreements(tables, [TASK])
    assert agreement_of("codis", SIGNED.format("gpt"), known).startswith(
        "gpt and people: kappa 0.50 ("
    )
    assert agreement_of("codis", SIGNED.format("other"), known) == ""


def test_answers_that_do_not_count_measure_nothing(tables):
    refused = [replace(one, complaint="late") for one in answers({0, 1, 2, 3})]
    tables.write(FORM.table("answers").split("/"), refused, Answer)
    assert judges_with_agreement(tables, [TASK]) == set()
