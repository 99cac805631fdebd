"""No verdict is given where more than the model differs, or where too much is unread."""

from dataclasses import replace
from math import inf

import pytest

from bench_assets.comparison.comparable import Side, compare_sides, incomparable_causes
from bench_assets.comparison.verdicts import decide, verdict_sentence
from tests.cases import read_cases
from tests.comparison.sides import side
from tests.fakes.quiz import TASK, quiz
from tests.fakes.rows import metric

SIGNATURE = "t|v1|main|data:d|prompts:p|model:{}|t=0,max=8|judge:j|scorer:r|n:1"
N = 40


@pytest.mark.parametrize(
    ("change", "causes"),
    read_cases(__file__, "signature_changes.jsonl"),
)  # fmt: skip
def test_the_causes_are_all_but_the_models(change, causes):
    signature = SIGNATURE.format("b")
    for part, instead in change.items():
        signature = signature.replace(part, instead)
    other = metric("b", 1.0, signature=signature)
    assert incomparable_causes(metric("a", 1.0, signature=SIGNATURE.format("a")), other) == causes


def evaluation(name, n_right, n_unread=0, **fields):
    """The first questions answered rightly, the next ones in no words of a rule."""
    texts = {f"quiz/{n}": "x" if n < n_right else "w" for n in range(N)}
    found = side(quiz(N), texts, name=name, **fields)
    scores = [
        replace(row, unread=n_right <= n < n_right + n_unread) for n, row in enumerate(found.scores)
    ]
    bounds = {
        "unread": n_unread / N,
        "if_unread_wrong": n_right / N if n_unread else None,
        "if_unread_right": (n_right + n_unread) / N if n_unread else None,
    }
    return Side(scores, [replace(row, **bounds) for row in found.metrics])


def compared(before, after):
    return decide(compare_sides(TASK, quiz(N), before, after, slices=False))


def test_sides_that_are_not_comparable_have_no_effect_and_a_command():
    after = evaluation("b", N)
    judged = [
        replace(row, signature=row.signature.replace("scorer:exact", "scorer:careful"))
        for row in after.metrics
    ]
    (line,) = compared(evaluation("a", 0), after._replace(metrics=judged))
    assert (line.verdict, line.reason, line.low) == ("not comparable", "other scorer", -inf)
    assert line.remedy == "bench evaluate quiz --model a --model b --scorer careful"
    tested = compared(evaluation("a", 0), after)
    assert decide([line, *tested]) == [line, *tested]  # it is none of the tests that Holm counts
    assert verdict_sentence([line, *tested]) == (
        "better at a quiz (+1.000, +0.951 to +1.000); not comparable at a quiz: other scorer"
    )


@pytest.mark.parametrize(
    ("n_right", "verdict"),
    [pytest.param(30, "undecided", id="within 10 to 30 of 40"),
     pytest.param(31, "better", id="above them")],
)  # fmt: skip
def test_a_verdict_needs_bounds_that_do_not_overlap(n_right, verdict):
    (line,) = compared(evaluation("a", 10, n_unread=20), evaluation("b", n_right))
    assert line.verdict == verdict
    if verdict == "undecided":
        assert line.p < 0.05
        assert line.remedy == "bench evaluate quiz --model a --reader MODEL"
        assert verdict_sentence([line]) == (
            "undecided on 1 of 1 tasks (a quiz: 50.0 % of the responses of a are unread)"
        )
        assert verdict_sentence([line, line]) == (
            "undecided on 2 of 2 tasks (too much is unread on 2 of them)"
        )


def test_few_unread_responses_leave_the_test_to_decide():
    (line,) = compared(evaluation("a", 10, n_unread=4), evaluation("b", 30))
    assert (line.verdict, line.reason) == ("better", "")


def test_without_metrics_or_scores_there_is_nothing_to_say():
    one = evaluation("a", 10)
    assert compared(one, Side([], one.metrics)) == compared(Side(one.scores, []), one) == []
