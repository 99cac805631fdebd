"""People as a judge: their verdicts, points, agreement, and what waits or expires; by pencil."""

from dataclasses import replace
from datetime import UTC, datetime
from math import isnan

import pytest

from bench_assets.annotation.responses.verdicts import verdict_unit, verdicts_task
from bench_assets.annotation.tasks import AnnotationTerms
from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.signature import Signature, format_judge_setup
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.people_judge import PeopleJudge
from bench_assets.evaluation.task import AnsweredQuestion, ByModel
from tests.bundles.shelf import rescore
from tests.fakes.answers import answer
from tests.fakes.quiz import TASK as QUIZ
from tests.fakes.quiz import judge_right
from tests.fakes.rows import prediction, question

TASK = replace(QUIZ, judges={"default": ByModel(judge_right)})
FORM = verdicts_task(TASK.name, TASK.title, judged=True).task
QUESTIONS = [question(question_id=f"quiz/{n}", answer=("key",)) for n in range(4)]
PREDICTIONS = [
    prediction(question_id=question.question_id, text=f"{n} says")
    for n, question in enumerate(QUESTIONS)
]
NOW = datetime(2026, 11, 24, tzinfo=UTC)
OVER = "2026-11-23T23:59:59.999Z"


def judged(*verdicts, needed=3, until="", least_decided=0.5):
    """Verdicts on each response, such as "yes no yes", with or without a deadline."""
    units = [verdict_unit(FORM, q, row.text) for q, row in zip(QUESTIONS, PREDICTIONS, strict=True)]
    answers = [
        replace(answer(unit.unit_id, f"p{n}", verdict=word), task=FORM.name)
        for unit, words in zip(units, verdicts, strict=False)
        for n, word in enumerate(words.split())
    ]
    terms = AnnotationTerms(needed=needed, until=until, least_decided=least_decided)
    pairs = [AnsweredQuestion(*pair) for pair in zip(QUESTIONS, PREDICTIONS, strict=True)]
    return PeopleJudge(FORM, answers, terms, NOW).judge(pairs)


def scored(judgements):
    return pipeline.score(TASK, QUESTIONS, PREDICTIONS, judgements)


def test_what_most_call_right_has_all_points_and_a_tie_none_at_all():
    rows = judged("yes yes no", "no no yes", "yes no unclear", "unclear unclear yes")
    assert [row.points for row in scored(rows)] == [1.0, 0.0, None, None]
    first, *_ = scored(rows)
    assert (first.judge, first.note) == ("people", "2 of 3 people call it right")
    assert first.votes == ("p0: yes", "p1: yes", "p2: no")


def test_a_response_with_too_few_verdicts_waits_and_has_no_points():
    rows = judged("yes yes yes", "yes", "", "no no no")
    assert [row.error for row in rows if row.error] == [
        "1 of 3 people have judged it",
        "0 of 3 people have judged it",
    ]
    assert [row.points for row in scored(rows)] == [1.0, None, None, 0.0]


def test_after_the_deadline_it_is_expired_and_the_number_goes_on_without_it():
    rows = judged("yes yes yes", "yes", "no no no", "no no no", until=OVER)
    assert not any(row.error for row in rows)
    assert scored(rows)[1].note == f"expired: 1 of 3 people judged it by {OVER}"
    row = pipeline.summarise(TASK, QUESTIONS, PREDICTIONS, scored(rows))[0]
    assert (row.value, row.n_scored, row.n_unscored, row.n_expired) == (
        pytest.approx(1 / 3),
        3,
        1,
        1,
    )


def test_after_the_deadline_too_little_is_refused():
    with pytest.raises(SettingsError, match="1 of 4 units were decided by the deadline"):
        judged("yes yes yes", "yes", until=OVER)
    assert judged("yes yes yes", "yes", until=OVER, least_decided=0.25)


def test_agreement_and_number_of_people_stand_beside_the_number():
    """Of yes yes no, no no no and yes yes yes; a response with one verdict is left out.

    Five yes and four no: 40 ordered pairs differ, over 8: 5. Within the first, 4 do, over 2: 2.
    Alpha is 1 - 2 / 5.
    """
    rows = [*judged("yes yes no", "no no no", "yes yes yes"), *judged("", "", "", "yes", needed=1)]
    rows = [row for row in rows if not row.error]
    values = {
        row.metric: row for row in pipeline.summarise(TASK, QUESTIONS, PREDICTIONS, scored(rows))
    }
    agreement, raters = values["rater_agreement"], values["raters"]
    assert (agreement.value, agreement.n_scored) == (pytest.approx(0.6), 3)
    assert (raters.value, raters.n_scored, isnan(raters.low)) == (3, 4, True)
    assert Signature.parse(raters.signature).parts["judge"] == "people"


def test_verdicts_of_people_are_read_again_where_a_number_is_reproduced():
    rows = judged("yes yes yes", "no no no", "yes yes no", "no no yes")
    kept = [replace(row, setup=format_judge_setup("people", "")) for row in rows]
    again = rescore(TASK, QUESTIONS, PREDICTIONS, kept)
    assert [row.points for row in again.scores] == [1.0, 0.0, 1.0, 0.0]
