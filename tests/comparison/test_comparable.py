from dataclasses import replace
from math import inf

import pytest

from bench_assets.comparison.comparable import Side, compare_sides, incomparable_causes
from bench_assets.comparison.verdicts import decide, verdict_sentence
from tests.cases import read_cases
from tests.comparison.sides import build_evaluation
from tests.fakes.quiz import TASK, quiz
from tests.fakes.rows import metric

SIGNATURE = "t|v1|main|data:d|prompts:p|model:{}|t=0,max=8|judge:j|scorer:r|n:1"
N = 40


@pytest.mark.parametrize(("change", "causes"), read_cases(__file__, "signature_changes.jsonl"))
def test_parts_that_two_numbers_must_share_are_causes_where_they_differ(change, causes):
    signature = SIGNATURE.format("b")
    for part, replacement in change.items():
        signature = signature.replace(part, replacement)
    before = metric("a", 1.0, signature=SIGNATURE.format("a"))
    after = metric("b", 1.0, signature=signature)
    assert incomparable_causes(before, after) == causes


def build_side(name, n_right, n_unread=0):
    """Responses to 40 questions: the first ``n_right`` right, the next ``n_unread`` unread."""
    texts = {f"quiz/{n}": "x" if n < n_right else "w" for n in range(N)}
    evaluation = build_evaluation(quiz(N), texts, name=name)
    scores = [
        replace(row, unread=n_right <= n < n_right + n_unread)
        for n, row in enumerate(evaluation.scores)
    ]
    bounds = {
        "unread": n_unread / N,
        "if_unread_wrong": n_right / N if n_unread else None,
        "if_unread_right": (n_right + n_unread) / N if n_unread else None,
    }
    return Side(scores, [replace(row, **bounds) for row in evaluation.metrics])


def decide_between(before, after):
    return decide(compare_sides(TASK, quiz(N), before, after, slices=False))


def with_scorer(side, scorer):
    """The same side, as if another scorer had scored it."""
    metrics = [
        replace(row, signature=row.signature.replace("scorer:exact", f"scorer:{scorer}"))
        for row in side.metrics
    ]
    return side._replace(metrics=metrics)


def test_sides_that_are_not_comparable_have_a_reason_and_a_command():
    (row,) = decide_between(build_side("a", 0), with_scorer(build_side("b", N), "careful"))
    assert (row.verdict, row.reason, row.low) == ("not comparable", "other scorer", -inf)
    assert row.remedy == "bench evaluate quiz --model a --model b --scorer careful"


def test_holm_does_not_count_what_is_not_comparable():
    before, after = build_side("a", 0), build_side("b", N)
    (refused,) = decide_between(before, with_scorer(after, "careful"))
    (tested,) = decide_between(before, after)
    assert decide([refused, tested]) == [refused, tested]
    # 0.951 = 1 - 2.023 / 41: t of 39 degrees of freedom, and the least standard error of 40.
    assert verdict_sentence([refused, tested]) == (
        "better at a quiz (+1.000, +0.951 to +1.000); not comparable at a quiz: other scorer"
    )


def test_bounds_that_overlap_leave_a_significant_change_undecided():
    # Before: 10 to 30 of 40 right, by what is unread; after: 30.
    (row,) = decide_between(build_side("a", 10, n_unread=20), build_side("b", 30))
    assert row.p < 0.05
    assert row.verdict == "undecided"
    assert row.remedy == "bench evaluate quiz --model a --reader MODEL"
    assert verdict_sentence([row]) == (
        "undecided on 1 of 1 tasks (a quiz: 50.0 % of the responses of a are unread)"
    )


def test_several_doubtful_tasks_are_counted():
    (row,) = decide_between(build_side("a", 10, n_unread=20), build_side("b", 30))
    assert verdict_sentence([row, row]) == (
        "undecided on 2 of 2 tasks (too much is unread on 2 of them)"
    )


def test_bounds_that_do_not_overlap_allow_a_verdict():
    (row,) = decide_between(build_side("a", 10, n_unread=20), build_side("b", 31))
    assert row.verdict == "better"


def test_few_unread_responses_leave_the_test_to_decide():
    (row,) = decide_between(build_side("a", 10, n_unread=4), build_side("b", 30))
    assert (row.verdict, row.reason) == ("better", "")


def test_without_metrics_or_scores_there_are_no_comparisons():
    side = build_side("a", 10)
    assert decide_between(side, side._replace(scores=[])) == []
    assert decide_between(side._replace(metrics=[]), side) == []
