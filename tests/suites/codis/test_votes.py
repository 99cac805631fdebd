"""Data verification, on small sets of votes that one can count."""

import pytest

from bench_assets.suites.codis.votes import count_ballots, decide_submissions
from tests.fakes.codis_source import pair, vote

FIVE = ["ana", "bo", "cem", "dia", "eli"]


def everyone_submits(**of_ana):
    """One submission by each of the five; ana's, "s-ana", is the one a test is about."""
    return [pair(pair_id="s-ana", annotator="ana", **of_ana)] + [
        pair(pair_id=f"s-{name}", annotator=name) for name in FIVE[1:]
    ]


def votes_on(submission, *against):
    """Votes of bo, cem, dia and eli; ``against`` holds what each of the first of them denies."""
    denied = [*against, *[None] * (4 - len(against))]
    return [
        vote(submission, name, **({criterion: False} if criterion else {}))
        for name, criterion in zip(FIVE[1:], denied, strict=True)
    ]


@pytest.mark.parametrize(
    ("votes", "outcome", "reason"),
    [
        pytest.param(votes_on("s-ana"), "kept", "4 of 4 others approve", id="all four approve"),
        pytest.param(
            votes_on("s-ana", "within_rules", "correct", "within_rules", "within_rules"),
            "dropped",
            "0 of 4 others approve; not correct: cem; not within the rules: bo, dia, eli",
            id="nobody approves, for different reasons",
        ),
        pytest.param(
            [*votes_on("s-ana")[:3], vote("s-ana", "ana")],
            "open",
            "3 of 4 others voted",
            id="one's own vote takes nobody's place",
        ),
        pytest.param([], "open", "0 of 4 others voted", id="nobody voted"),
        pytest.param(
            [*votes_on("s-ana", "correct"), vote("s-ana", "bo")],
            "kept",
            "4 of 4 others approve",
            id="who comes round approves",
        ),
        pytest.param(
            [*votes_on("s-ana")[:3], vote("s-ana", "zoe", tool="pages")],
            "kept",
            "4 of 4 others approve",
            id="who was asked in a tool may vote without a submission",
        ),
    ],
)
def test_what_the_votes_decide(votes, outcome, reason):
    decision = decide_submissions(everyone_submits(), votes)[0]
    assert (decision.submission, decision.outcome, decision.reason) == ("s-ana", outcome, reason)


def test_a_revision_takes_the_place_of_what_it_revises():
    revised = pair(pair_id="s-new", annotator="ana", revises="s-ana")
    votes = votes_on("s-ana", "correct") + votes_on("s-new")
    decisions = {d.submission: d for d in decide_submissions([*everyone_submits(), revised], votes)}
    assert (decisions["s-ana"].outcome, decisions["s-ana"].revised_by) == ("revised", "s-new")
    assert decisions["s-new"].outcome == "kept"


@pytest.mark.parametrize(
    ("later", "reason"),
    [
        pytest.param(
            [pair(pair_id="s-new", annotator="bo", revises="s-ana")],
            "revises 's-ana', which is no earlier submission of 'bo'",
            id="nobody revises for another",
        ),
        pytest.param(
            [pair(pair_id="s-new", annotator="ana", revises="s-404")],
            "revises 's-404', which is no earlier submission of 'ana'",
            id="what was never submitted cannot be revised",
        ),
        pytest.param(
            [pair(pair_id="s-ana", annotator="bo")],
            "an earlier entry has the same id, 's-ana'",
            id="an id is given once",
        ),
    ],
)
def test_a_faulty_entry_is_dropped_and_spares_the_earlier_one(later, reason):
    votes = votes_on("s-ana") + [vote("s-new", name) for name in FIVE]
    decisions = decide_submissions([*everyone_submits(), *later], votes)
    assert (decisions[0].outcome, decisions[-1].outcome) == ("kept", "dropped")
    assert decisions[-1].reason == reason


def test_the_second_of_two_revisions_is_dropped():
    twice = [pair(pair_id=f"s-{n}", annotator="ana", revises="s-ana") for n in (1, 2)]
    votes = votes_on("s-1") + votes_on("s-2")
    outcomes = {d.submission: d for d in decide_submissions([*everyone_submits(), *twice], votes)}
    assert outcomes["s-ana"].revised_by == "s-1"
    assert outcomes["s-1"].outcome == "kept"
    assert outcomes["s-2"].reason == "revises 's-ana', which 's-1' already revises"


@pytest.mark.parametrize(
    ("stray", "reason"),
    [
        pytest.param(vote("s-404", "bo"), "unknown submission 's-404'", id="no submission"),
        pytest.param(vote("s-ana", "zoe"), "'zoe' is not an annotator", id="a stranger"),
    ],
)
def test_a_vote_that_does_not_count_is_rejected_by_its_annotator_and_submission(stray, reason):
    ballots = count_ballots(everyone_submits(), [*votes_on("s-ana"), stray])
    assert [rejection.entry for rejection in ballots.rejections] == [
        f"votes.json, vote of {stray.annotator!r} on {stray.submission!r}"
    ]
    assert reason in ballots.rejections[0].reason
    assert ballots.rows == votes_on("s-ana")


def test_the_last_word_of_a_person_counts():
    votes = [*votes_on("s-ana"), vote("s-ana", "bo", correct=False)]
    ballots = count_ballots(everyone_submits(), votes)
    assert [(rejection.entry, rejection.reason) for rejection in ballots.rejections] == [
        (
            "votes.json, vote of 'bo' on 's-ana'",
            "'bo' voted on 's-ana' again; the last vote counts",
        )
    ]
    assert ballots.rows == votes[1:]
