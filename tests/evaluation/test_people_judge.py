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
PAST_DEADLINE = "2026-11-23T23:59:59.999Z"


def judge_by_people(*verdicts, needed=3, until="", least_decided=0.5):
    """Judge each response by its verdicts, such as "yes no yes", with or without a deadline."""
    units = [verdict_unit(FORM, q, row.text) for q, row in zip(QUESTIONS, PREDICTIONS, strict=True)]
    answers = [
        replace(answer(unit.unit_id, f"p{person}", verdict=verdict), task=FORM.name)
        for unit, unit_verdicts in zip(units, verdicts, strict=False)
        for person, verdict in enumerate(unit_verdicts.split())
    ]
    terms = AnnotationTerms(needed=needed, until=until, least_decided=least_decided)
    pairs = [AnsweredQuestion(*pair) for pair in zip(QUESTIONS, PREDICTIONS, strict=True)]
    return PeopleJudge(task=FORM, answers=answers, terms=terms, now=NOW).judge(pairs)


def score_judgements(judgements):
    return pipeline.score(TASK, QUESTIONS, PREDICTIONS, judgements)


def test_the_majority_decides_the_points_and_a_tie_gives_none():
    rows = judge_by_people("yes yes no", "no no yes", "yes no unclear", "unclear unclear yes")
    assert [row.points for row in score_judgements(rows)] == [1.0, 0.0, None, None]


def test_a_score_has_the_votes_of_people_and_their_count():
    first, *_ = score_judgements(judge_by_people("yes yes no"))
    assert (first.judge, first.note) == ("people", "2 of 3 people call it right")
    assert first.votes == ("p0: yes", "p1: yes", "p2: no")


def test_a_response_with_too_few_verdicts_waits_and_has_no_points():
    rows = judge_by_people("yes yes yes", "yes", "", "no no no")
    assert [row.error for row in rows if row.error] == [
        "1 of 3 people have judged the response",
        "0 of 3 people have judged the response",
    ]
    assert [row.points for row in score_judgements(rows)] == [1.0, None, None, 0.0]


def test_an_undecided_response_expires_at_the_deadline_and_the_metric_leaves_it_out():
    rows = judge_by_people("yes yes yes", "yes", "no no no", "no no no", until=PAST_DEADLINE)
    assert not any(row.error for row in rows)
    assert score_judgements(rows)[1].note == f"expired: 1 of 3 people judged it by {PAST_DEADLINE}"
    metric = pipeline.summarise(TASK, QUESTIONS, PREDICTIONS, score_judgements(rows))[0]
    assert (metric.value, metric.n_scored, metric.n_unscored, metric.n_expired) == (
        pytest.approx(1 / 3),
        3,
        1,
        1,
    )


def test_too_few_decided_responses_at_the_deadline_are_refused():
    with pytest.raises(SettingsError, match="1 of 4 units were decided by the deadline"):
        judge_by_people("yes yes yes", "yes", until=PAST_DEADLINE)
    assert judge_by_people("yes yes yes", "yes", until=PAST_DEADLINE, least_decided=0.25)


def test_agreement_and_number_of_raters_are_metrics_of_their_own():
    """Krippendorff's alpha of yes yes no, no no no, yes yes yes; the fourth has one verdict.

    Expected: of 5 yes and 4 no, 40 ordered pairs differ, over 9 - 1: 5.
    Observed: in the first response 4 ordered pairs differ, over 3 - 1: 2.
    Alpha is 1 - 2 / 5.
    """
    with_three = judge_by_people("yes yes no", "no no no", "yes yes yes")
    with_one = judge_by_people("", "", "", "yes", needed=1)
    judgements = [row for row in [*with_three, *with_one] if not row.error]

    scores = score_judgements(judgements)
    metrics = {row.metric: row for row in pipeline.summarise(TASK, QUESTIONS, PREDICTIONS, scores)}

    agreement, raters = metrics["rater_agreement"], metrics["raters"]
    assert (agreement.value, agreement.n_scored) == (pytest.approx(0.6), 3)
    assert (raters.value, raters.n_scored, isnan(raters.low)) == (3, 4, True)
    assert Signature.parse(raters.signature).parts["judge"] == "people"


def test_verdicts_of_people_are_scored_again_when_a_number_is_reproduced():
    rows = judge_by_people("yes yes yes", "no no no", "yes yes no", "no no yes")
    recorded = [replace(row, setup=format_judge_setup("people", "")) for row in rows]
    rescored = rescore(TASK, QUESTIONS, PREDICTIONS, recorded)
    assert [row.points for row in rescored.scores] == [1.0, 0.0, 1.0, 0.0]
