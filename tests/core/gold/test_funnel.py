"""Yield and errors of each construction stand in one row."""

from dataclasses import replace

import pytest

from bench_assets.core.gold.funnel import gold_funnel, low_yields
from bench_assets.core.gold.proposals import KeyVerdict, apply_verdicts, decide, same_value
from tests.core.gold.test_proposals import OTHER, PROPOSAL, YES, votes


def rows(*answers):
    return [
        decide(
            replace(PROPOSAL, id=f"p/{n}", question_id=f"p{n}"), votes(*answer), "all", same_value
        )
        for n, answer in enumerate(answers)
    ]


def test_each_outcome_is_counted():
    voted = rows([YES, YES], [YES, YES], [OTHER, OTHER], [YES, OTHER], [OTHER, YES])
    verdicts = [
        KeyVerdict(proposal="p/0", person="ana", verdict="right"),
        KeyVerdict(proposal="p/1", person="ana", verdict="contradictory"),
        KeyVerdict(proposal="p/3", person="ana", verdict="right"),
    ]
    (row,) = gold_funnel(voted, apply_verdicts(voted, verdicts))
    counts = (row.proposed, row.by_form, row.agreed, row.open, row.rejected, row.accepted)
    assert counts == (5, 5, 2, 1, 2, 2)
    assert (row.decided_by_people, row.checked, row.wrong, row.wrong_share) == (3, 2, 1, 0.5)
    # Wilson's interval of 1 of 2
    assert row.wrong_low == pytest.approx(0.0945, abs=1e-4)
    assert row.wrong_high == pytest.approx(0.9055, abs=1e-4)


def test_without_a_check_the_errors_are_unknown():
    voted = rows([YES, YES])
    (row,) = gold_funnel(voted, voted)
    assert (row.checked, row.wrong_share, row.wrong_low) == (0, None, None)


def test_a_construction_that_builds_next_to_nothing_is_named():
    voted = rows(*[[YES, YES]], *[[OTHER, OTHER]] * 19)
    assert low_yields(gold_funnel(voted, voted)) == []
    voted = rows(*[[YES, YES]], *[[OTHER, OTHER]] * 20)
    assert low_yields(gold_funnel(voted, voted)) == [
        "another number: 1 of 21 proposals are accepted"
    ]
