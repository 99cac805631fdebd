import math

import pytest

from bench_assets.annotation.responses.person_answers import PersonAnswer
from bench_assets.core.schema.rows import Score
from bench_assets.suites.blink.studies import human_scores, vote_over_runs
from tests.fakes.rows import question


def score(question_id="q", *, answer="", points=0.0, sample=0, **fields):
    return Score(
        question_id=question_id,
        model="m",
        condition="main",
        sample=sample,
        points=points,
        answer=tuple(answer),
        **fields,
    )


@pytest.mark.parametrize(
    ("runs", "points", "winner"),
    [
        pytest.param("AABBA", 1.0, ("A",), id="the most frequent answer wins"),
        pytest.param("A----", 1.0, ("A",), id="refusals do not vote"),
        pytest.param("B-A-", 0.0, ("B",), id="of two as frequent, the one that came first"),
        pytest.param("-----", 0.0, (), id="without a vote the answer is wrong"),
    ],
)
def test_the_majority_answer_of_the_runs_is_scored(runs, points, winner):
    with_gold = question(question_id="q", answer=("A",))
    rows = [score(answer=run.strip("-"), sample=n) for n, run in enumerate(runs)]
    (vote,) = vote_over_runs([with_gold], reversed(rows))
    assert (vote.points, vote.answer, vote.sample) == (points, winner, 0)


def test_a_vote_that_an_unscored_run_might_change_is_unscored():
    rows = [score(answer="A", sample=0), score(points=None, sample=1, error="timeout")]
    (vote,) = vote_over_runs([question(question_id="q", answer=("A",))], rows)
    assert (vote.points, vote.error) == (None, "timeout")


def answer(person, question_id, letter):
    return PersonAnswer(question_id=question_id, person=person, answer=letter)


TWO_TASKS = [
    question(question_id=f"{task}{n}", category=task, answer=("A",), options=("x", "y"))
    for task in ("Jigsaw", "IQ_Test")
    for n in (1, 2)
]


def test_people_are_scored_as_the_mean_of_persons_and_then_of_tasks():
    """Jigsaw: P 2 of 2, Q 1 of 2, so 0.75; IQ_Test, half each: P 1 of 1, Q 0 of 1, so 0.5."""
    answers = [
        answer("P", "Jigsaw1", "A"),
        answer("P", "Jigsaw2", "A"),
        answer("Q", "Jigsaw1", "A"),
        answer("Q", "Jigsaw2", "B"),
        answer("P", "IQ_Test1", "A"),
        answer("Q", "IQ_Test2", "B"),
    ]
    scores = {row.category: row for row in human_scores(TWO_TASKS, answers)}
    assert {category: row.accuracy for category, row in scores.items()} == {
        "Jigsaw": 0.75,
        "IQ_Test": 0.5,
        "all": 0.625,
        "all but IQ_Test": 0.75,
    }
    assert scores["Jigsaw"].agreement == 0.5  # they agree on one of two questions
    assert math.isnan(scores["IQ_Test"].agreement)  # nobody answered what another did
    assert scores["all"].agreement == 0.5  # of the tasks that have one
