"""A response that cannot be read is that item's error, whoever reads it, and ends nothing."""

import pytest

from bench_assets.core.schema.rows import Judgement, Score
from bench_assets.core.stats.means import ScoredPoint, mean
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import ByRules, Task
from tests.rows import answered, prediction, question


def fails_at(text, why):
    """A scorer that cannot read one response."""

    def score(pair, judgements):
        if pair.prediction.text == text:
            raise why
        return Score.of(pair.prediction, points=1.0)

    return score


@pytest.mark.parametrize(
    ("why", "note"),
    [
        (ValueError("4,301 digits"), "cannot be scored: ValueError: 4,301 digits"),
        (RecursionError("too deep"), "cannot be scored: RecursionError: too deep"),
        (OverflowError("too large"), "cannot be scored: OverflowError: too large"),
    ],
)
def test_a_response_that_cannot_be_scored_is_its_own_error_and_ends_nothing(why, note):
    task = Task(
        name="t",
        title="T",
        version=1,
        conditions={},
        scorers={"strict": fails_at("bad", why)},
        measures={"accuracy": lambda rows: mean(ScoredPoint(one.score.points) for one in rows)},
    )
    asked = [question(question_id=name) for name in ("bad", "good")]
    said = [prediction(question_id=one.question_id, text=one.question_id) for one in asked]
    scores = pipeline.score(task, asked, said, [])
    assert [(one.points, one.note) for one in scores] == [(None, note), (1.0, "")]
    (overall,) = pipeline.summarise(task, asked, said, scores)
    assert (overall.value, overall.n_scored, overall.n_unscored) == (1.0, 1, 1)


def test_a_response_that_the_rules_cannot_read_is_its_own_error_and_ends_nothing():
    def judge(pairs):
        if any(pair.prediction.text == "bad" for pair in pairs):
            raise ValueError("4,301 digits")
        return [
            Judgement.of(one.prediction, judge="rules", criterion="c", verdict=True, response="")
            for one in pairs
        ]

    pairs = [answered(text, question_id=text) for text in ("bad", "good")]
    rows = ByRules(judge).judgements(pairs)
    assert [(row.question_id, row.verdict, row.error) for row in rows] == [
        ("good", True, ""),
        ("bad", None, "the judge cannot read the response: ValueError: 4,301 digits"),
    ]
