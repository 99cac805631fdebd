"""Reviewed responses count as their reviewers read them, in every task and by every scorer."""

import json
from dataclasses import replace

import pytest

from bench_assets.annotation.responses.units import response_name
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Judgement, Score
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.reviews import ResponseReview, ReviewLine, format_lines, read_review
from bench_assets.suites.blink.task import TASK as BLINK
from bench_assets.suites.codis.task import TASK as CODIS
from bench_assets.suites.cogbench.vqa.task import TASK as VQA
from bench_assets.workspace.evaluate.response_review import review_lines
from tests.fakes.rows import prediction
from tests.test_no_answer import SCORERS, questions_of

UNREADABLE = "Well, that is what everybody would like to know, and it was discussed at length."
REVIEWED_BY_ANSWER = {"blink", "codis", "multi", "cogbench/vqa", "journeybench/multi_image_vqa"}


def predictions_of(questions, text=UNREADABLE):
    return [prediction(question_id=question.question_id, text=text) for question in questions]


def scored(task, questions, predictions, lines=(), scorer=""):
    verdicts = pipeline.judge(task, questions, predictions, None) if task.is_judged else []
    review = ResponseReview.of(lines)
    return pipeline.score(task, questions, predictions, verdicts, scorer, review)


def forms(task, questions, predictions):
    verdicts = pipeline.judge(task, questions, predictions, None) if task.is_judged else []
    return review_lines(task, questions, predictions, verdicts)


def _joined(question):
    return ("；" if question.kind == "blanks" else " ").join(question.answer)


@pytest.mark.parametrize(
    ("task", "scorer"),
    [case for case in SCORERS if getattr(case.values[0], "name", "") in REVIEWED_BY_ANSWER],
)
def test_the_right_answer_that_a_reviewer_reads_has_all_points(task, scorer):
    questions = questions_of(task)
    predictions = predictions_of(questions)
    key = {question.question_id: question for question in questions}
    lines = [
        replace(line, answer=_joined(key[line.question_id]), by="ada")
        for line in forms(task, questions, predictions)
    ]
    assert lines
    reviewed = [line.question_id for line in lines]
    scores = scored(task, questions, predictions, lines, scorer)
    for score in [row for row in scores if row.question_id in reviewed]:
        assert (score.points, score.unread) == (score.max_points, False), score
        assert score.note.startswith("reviewed by ada: ")
        assert score.scorer == f"{scorer}+review:{ResponseReview.of(lines).digest}"


def line(**fields):
    usual = {"question_id": "t/0", "response": "", "why": "unread", "kind": "choice"}
    return ReviewLine(**usual | {"options": "(A) up\n(B) down"} | fields)


def test_what_is_read_otherwise_or_as_nothing_is_wrong_and_the_others_stay():
    questions = questions_of(BLINK) * 3
    questions = [replace(question, question_id=f"t/{n}") for n, question in enumerate(questions)]
    predictions = predictions_of(questions)
    otherwise, none, _ = forms(BLINK, questions, predictions)
    lines = [replace(otherwise, answer="B"), replace(none, answer="none")]
    scores = scored(BLINK, questions, predictions, lines)
    assert [(score.points, score.answer, score.unread) for score in scores] == [
        (0.0, ("B",), False),
        (0.0, (), False),
        (0.0, (), True),
    ]
    assert [
        score.points for score in scored(BLINK, questions, predictions_of(questions, "A"), lines)
    ] == [1.0] * 3


def test_a_reviewed_answer_that_a_scorer_cannot_read_is_unscored_and_none_is_wrong():
    task = replace(BLINK, scorers={"by number": _number}, judges={})
    questions = [
        replace(row, question_id=f"t/{n}") for n, row in enumerate(questions_of(BLINK) * 2)
    ][:2]
    predictions = predictions_of(questions)
    lines_of_both = [
        line(question_id=question.question_id, response=response_name(UNREADABLE))
        for question in questions
    ]
    lines = [replace(lines_of_both[0], answer="none"), replace(lines_of_both[1], answer="B")]
    scores = scored(task, questions, predictions, lines)
    assert [(row.points, row.note) for row in scores] == [
        (0.0, "reviewed: none"),
        (None, "reviewed: B; cannot be scored: KeyError: 'B'"),
    ]


def _number(pair, _):
    return Score.of(pair.prediction, points={"3": 1.0}[pair.prediction.text])


def test_the_form_has_no_model_and_each_response_once():
    questions = questions_of(BLINK)
    predictions = [
        *predictions_of(questions),
        *(replace(one, sample=1) for one in predictions_of(questions)),
    ]
    (one,) = forms(BLINK, questions, predictions)
    assert (one.why, one.asked_for, one.text, one.reference) == ("unread", "answer", UNREADABLE, "")
    assert "model" not in json.loads(format_lines([one]))
    assert not one.is_filled


def test_what_two_scorers_read_differently_is_doubtful():
    questions = questions_of(VQA)
    (form,) = forms(
        VQA, questions, predictions_of(questions, "Because it is wet, the answer is (A).")
    )
    assert form.why == "doubtful"
    assert forms(VQA, questions, predictions_of(questions, "A")) == []


def test_where_a_model_judges_a_verdict_is_requested():
    questions = questions_of(CODIS)[:1]
    predictions = predictions_of(questions)
    judgement = Judgement.of(
        predictions[0], judge="gpt", criterion="correct", verdict=None, response="Hm."
    )
    unreadable = replace(judgement, prompt_sha256="0")
    (line,) = review_lines(CODIS, questions, predictions, [unreadable])
    assert (line.asked_for, line.reference) == ("verdict", "opening")
    review = ResponseReview.of([replace(line, verdict="right")])
    (score,) = pipeline.score(CODIS, questions, predictions, [unreadable], "", review)
    assert (score.points, score.note) == (1.0, "reviewed: right")


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"answer": "C"}, r"line 1: answer is 'C' \(expected of A B, or none\)"),
        ({"answer": "A B"}, "answer is 'A B'"),
        ({"verdict": "right"}, r"verdict is filled in \(expected answer\)"),
        ({"asked_for": "verdict", "verdict": "yes"}, r"verdict is 'yes' \(expected right or wrong"),
    ],
)
def test_a_form_that_is_filled_in_wrongly_names_the_line(tmp_path, fields, complaint):
    (tmp_path / "r.jsonl").write_text(format_lines([line(**fields)]))
    with pytest.raises(SourceError, match=complaint):
        read_review(tmp_path / "r.jsonl")
