"""Judges beside people: verdicts in a form and labels in a file become figures, by pencil."""

from dataclasses import replace

import pytest

from bench_assets.annotation.responses.units import response_name
from bench_assets.annotation.tasks import Answer, unit_id
from bench_assets.audit.judges.human_agreement import agreement_finding
from bench_assets.comparison.judge_agreement import agreement_of, agreements, judges_with_agreement
from bench_assets.core.judging.verdict_requests import FIRST_RESPONSE_SUFFIX
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Judgement, Prediction, Question
from bench_assets.evaluation.human_agreement import (
    HumanLabel,
    LabelledResponses,
    figures_of_labels,
    majority_labels,
    pair_with_labels,
    read_labels,
)
from bench_assets.evaluation.measured_figures import PEOPLE, PRECISION, RECALL
from bench_assets.suites.codis.task import TASK
from bench_resources.tables.parquet import TableFiles
from tests.annotation.said import answer
from tests.audit.judged import Judged, queries
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


def people(responses, given):
    verdicts = FORM.to_rows(given)
    return [label for of in responses for label in majority_labels(verdicts, of.predictions)]


def figures(responses, given):
    questions = {q.question_id: q for q in ASKED}
    labels = people(responses, given)
    found = figures_of_labels(TASK, questions, responses, labels, "2026-11-22")
    return {(one.judge, one.figure): one for one in found}


def test_kappa_precision_and_recall_are_those_of_the_table():
    """People call 4 of 8 right; the judge 3 of these and 1 other: 6 of 8 alike, half by chance."""
    found = figures(
        [LabelledResponses(said(), judged(said(), {0, 1, 2, 4}))], answers({0, 1, 2, 3})
    )
    kappa = found["gpt", PEOPLE]
    assert (kappa.value, kappa.n, kappa.task, kappa.at) == (0.5, 8, "codis", "2026-11-22")
    assert kappa.low < 0.5 < kappa.high
    assert found["gpt", PRECISION].value == found["gpt", RECALL].value == 0.75


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
    found = figures([LabelledResponses(said(), judged(said(), right))], answers({0, 1, 2, 3}))
    assert found["gpt", PEOPLE].value == pytest.approx(value)


def test_verdicts_on_questions_that_were_removed_since_are_left_out():
    responses = [LabelledResponses(said(), judged(said(), {0, 1, 2, 3}))]
    labels = people(responses, answers({0, 1, 2, 3}))
    left = {q.question_id: q for q in ASKED[:6]}
    found = figures_of_labels(TASK, left, responses, labels, "2026-11-22")
    assert {(one.figure, one.value, one.n) for one in found if one.figure == PEOPLE} == {
        (PEOPLE, 1.0, 6)
    }


def test_a_verdict_goes_with_whoever_said_the_same_word_for_word():
    rows = [*said("a"), *said("b"), *said("c", "Response")]
    labels = majority_labels(FORM.to_rows(answers({0}, n=1)), rows)
    assert [(one.model, one.correct) for one in labels] == [("a", True), ("b", True)]


def test_of_responses_that_nobody_judged_nothing_is_known():
    assert figures([LabelledResponses(said(says="new"), judged(said(), {0}))], answers({0})) == {}
    assert figures([LabelledResponses(said(), [])], answers({0})) == {}


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


@pytest.mark.parametrize(
    ("right", "passes"),
    [
        pytest.param(set(range(20)), True, id="as people do"),
        pytest.param(set(range(40)), False, id="always right"),
        pytest.param(set(), False, id="always wrong"),
    ],
)
def test_a_judge_that_people_disagree_with_fails_the_audit(right, passes):
    """Of 40 responses, people call the first 20 right."""
    asked = queries(40)
    rows = [prediction(question_id=q.question_id, model="m", text="response") for q in asked]
    labels = [
        HumanLabel(question_id=q.question_id, correct=number < 20) for number, q in enumerate(asked)
    ]
    measured = figures_of_labels(
        TASK,
        {q.question_id: q for q in asked},
        [LabelledResponses(rows, judged(rows, right))],
        labels,
        "2026-11-22",
    )
    finding = agreement_finding(Judged(asked, {"m": rows}, judge_figures=measured))
    assert (finding.passed, finding.n) == (passes, 40)
    assert finding.sentence.startswith("gpt and people: kappa ")


def test_a_judge_that_was_never_compared_with_people_is_not_audited():
    assert "bench audit judge" in agreement_finding(Judged(ASKED, {})).skipped


BY_ID = {one.question_id: one for one in ASKED}
RESPONSES = said()


def verdict(number, says, criterion="correct"):
    return Judgement.of(
        RESPONSES[number], judge="j", criterion=criterion, verdict=says, response="right"
    )


def labels(number, *votes):
    return [
        HumanLabel(question_id=RESPONSES[number].question_id, correct=vote, annotator=str(who))
        for who, vote in enumerate(votes)
    ]


@pytest.mark.parametrize(
    ("heard", "votes", "pairs"),
    [
        pytest.param([verdict(0, True)], labels(0, True), [(True, True)], id="one person"),
        pytest.param(
            [verdict(0, True)], labels(0, False, False, True), [(False, True)], id="a majority"
        ),
        pytest.param([verdict(0, True)], labels(0, True, False), [], id="people are divided"),
        pytest.param([verdict(0, None)], labels(0, True), [], id="the judge is unreadable"),
        pytest.param([verdict(1, True)], labels(0, True), [], id="nobody labelled what it judged"),
        pytest.param(
            [verdict(0, None, f"correct{FIRST_RESPONSE_SUFFIX}"), verdict(0, False)],
            labels(0, True),
            [(True, False)],
            id="what it said before it was asked again does not count",
        ),
        pytest.param(
            [verdict(0, True), verdict(0, False, "correct, thoughts included")],
            labels(0, True),
            [(True, True)],
            id="nor what it says of thoughts",
        ),
    ],
)
def test_what_people_say_stands_beside_what_the_judge_says(heard, votes, pairs):
    assert pair_with_labels(TASK, BY_ID, RESPONSES, heard, votes) == pairs


def test_a_response_that_never_came_is_left_out():
    lost = [replace(RESPONSES[0], error="no response"), *RESPONSES[1:]]
    assert pair_with_labels(TASK, BY_ID, lost, [verdict(0, True)], labels(0, True)) == []


def test_labels_of_other_tools_may_say_more(tmp_path):
    file = tmp_path / "labels.jsonl"
    file.write_text('{"question_id": "q", "correct": true, "tie_break": false, "comment": "?"}')
    assert read_labels(file) == [HumanLabel(question_id="q", correct=True)]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"question_id": "q", "correct": "yes"}', "labels.jsonl, line 2"),
        ('{"question_id": "p", "correct": true}', "the same question_id, model, annotator"),
    ],
)
def test_a_line_that_is_no_label_is_named(tmp_path, line, why):
    file = tmp_path / "labels.jsonl"
    file.write_text('{"question_id": "p", "correct": true}\n' + line)
    with pytest.raises(SourceError, match=why):
        read_labels(file)
