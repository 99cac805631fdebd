from dataclasses import replace

import pytest

from bench_assets.core.gold.funnel import gold_funnel, low_yields
from bench_assets.core.gold.proposals import KeyVerdict, apply_verdicts, decide, same_value
from tests.core.gold.test_proposals import OTHER, PROPOSAL, YES, votes


def decided_proposals(*solver_answers):
    """A decided proposal for each list of the solvers' answers."""
    return [
        decide(
            replace(PROPOSAL, id=f"p/{n}", question_id=f"p{n}"), votes(*answers), "all", same_value
        )
        for n, answers in enumerate(solver_answers)
    ]


def test_each_outcome_is_counted():
    proposals = decided_proposals(
        [YES, YES], [YES, YES], [OTHER, OTHER], [YES, OTHER], [OTHER, YES]
    )
    verdicts = [
        KeyVerdict(proposal="p/0", person="ana", verdict="right"),
        KeyVerdict(proposal="p/1", person="ana", verdict="contradictory"),
        KeyVerdict(proposal="p/3", person="ana", verdict="right"),
    ]
    (row,) = gold_funnel(proposals, apply_verdicts(proposals, verdicts))
    # Solvers accept 0 and 1, reject 2 and differ on 3 and 4; people reject 1 and accept 3.
    assert (row.proposed, row.by_form, row.agreed) == (5, 5, 2)
    assert (row.open, row.rejected, row.accepted) == (1, 2, 2)
    assert (row.decided_by_people, row.checked, row.wrong, row.wrong_share) == (3, 2, 1, 0.5)
    # Wilson's interval of 1 of 2: 0.5 -+ 1.96 / (2 * sqrt(2 + 1.96^2))
    assert row.wrong_low == pytest.approx(0.0945, abs=1e-4)
    assert row.wrong_high == pytest.approx(0.9055, abs=1e-4)


def test_without_a_check_the_share_of_errors_is_unknown():
    proposals = decided_proposals([YES, YES])
    (row,) = gold_funnel(proposals, proposals)
    assert (row.checked, row.wrong_share, row.wrong_low) == (0, None, None)


def test_a_construction_with_one_in_twenty_accepted_has_no_low_yield():
    proposals = decided_proposals([YES, YES], *[[OTHER, OTHER]] * 19)
    assert low_yields(gold_funnel(proposals, proposals)) == []


def test_a_construction_with_fewer_than_one_in_twenty_accepted_is_named():
    proposals = decided_proposals([YES, YES], *[[OTHER, OTHER]] * 20)
    assert low_yields(gold_funnel(proposals, proposals)) == [
        "another number: 1 of 21 proposals are accepted"
    ]
