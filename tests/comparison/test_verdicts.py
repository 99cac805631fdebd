"""Comparisons of two models where some responses are unscored, by pencil."""

from dataclasses import replace

from bench_assets.comparison.verdicts import compare_scores
from bench_assets.core.metrics.aggregates import group_accuracy
from bench_assets.core.schema.rows import Score
from tests.fakes.quiz import TASK
from tests.fakes.rows import question

PAIRS = [
    question(question_id=f"t/{pair}/{half}", group_id=f"pair {pair}")
    for pair in range(4)
    for half in (0, 1)
]


def scores(model, *points):
    return [
        Score(question_id=query.question_id, model=model, condition="main", points=value)
        for query, value in zip(PAIRS, points, strict=True)
    ]


def test_a_pair_with_an_unscored_half_is_unscored_in_both_as_in_the_metric():
    """Of pairs 0 to 2 both have two right; of pair 3, one half would have been right alone."""
    task = replace(TASK, measures={"group_accuracy": group_accuracy}, slices=lambda _: ())
    old = scores("old", 1, 1, 1, 1, 1, 0, 1, None)
    new = scores("new", 1, 1, 1, 0, 1, 1, 0, 0)
    (found,) = compare_scores(task, PAIRS, old, new)
    assert (found.before, found.after, found.n) == (2 / 3, 2 / 3, 3)


def test_a_question_of_its_own_metric_is_left_out_and_its_half_stays():
    (found,) = compare_scores(
        replace(TASK, slices=lambda _: ()),
        PAIRS,
        scores("old", 1, 1, 1, 1, 1, 0, 1, None),
        scores("new", 1, 1, 1, 0, 1, 1, 0, 0),
    )
    assert (found.before, found.after) == (6 / 7, 5 / 7)
    assert (found.n, found.n_questions) == (7, 7)
