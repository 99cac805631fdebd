from itertools import zip_longest

import pytest

from bench_assets.suites.codis.votes import decide_submissions, select_ballots
from tests.fakes.codis_source import pair, vote

ANNOTATORS = ["ana", "bo", "cem", "dia", "eli"]


def everyone_submits():
    """One submission by each of the five: s-ana, s-bo, ..."""
    return [pair(pair_id=f"s-{name}", annotator=name) for name in ANNOTATORS]


def votes_on(submission, *against):
    """Votes of bo, cem, dia and eli; the first of them deny one criterion of ``against`` each."""
    votes = []
    for name, criterion in zip_longest(ANNOTATORS[1:], against):
        fields = {criterion: False} if criterion else {}
        votes.append(vote(submission, name, **fields))
    return votes


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
def test_a_submission_is_kept_dropped_or_left_open_by_its_votes(votes, outcome, reason):
    decision = decide_submissions(everyone_submits(), votes)[0]
    assert (decision.submission, decision.outcome, decision.reason) == ("s-ana", outcome, reason)


def test_a_revision_replaces_the_submission_that_it_revises():
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
def test_a_faulty_submission_is_dropped_and_the_earlier_one_is_kept(later, reason):
    votes = votes_on("s-ana") + [vote("s-new", name) for name in ANNOTATORS]
    decisions = decide_submissions([*everyone_submits(), *later], votes)
    assert (decisions[0].outcome, decisions[-1].outcome) == ("kept", "dropped")
    assert decisions[-1].reason == reason


def test_the_second_of_two_revisions_is_dropped():
    revisions = [pair(pair_id=f"s-{n}", annotator="ana", revises="s-ana") for n in (1, 2)]
    votes = votes_on("s-1") + votes_on("s-2")
    submissions = [*everyone_submits(), *revisions]
    decisions = {row.submission: row for row in decide_submissions(submissions, votes)}
    assert decisions["s-ana"].revised_by == "s-1"
    assert decisions["s-1"].outcome == "kept"
    assert decisions["s-2"].reason == "revises 's-ana', which 's-1' already revises"


@pytest.mark.parametrize(
    ("stray", "reason"),
    [
        pytest.param(vote("s-404", "bo"), "unknown submission 's-404'", id="no submission"),
        pytest.param(vote("s-ana", "zoe"), "'zoe' is not an annotator", id="a stranger"),
    ],
)
def test_a_vote_that_does_not_count_is_rejected_by_its_annotator_and_submission(stray, reason):
    ballots = select_ballots(everyone_submits(), [*votes_on("s-ana"), stray])
    (rejection,) = ballots.rejections
    assert rejection.entry == f"votes.json, vote of {stray.annotator!r} on {stray.submission!r}"
    assert reason in rejection.reason
    assert ballots.rows == votes_on("s-ana")


def test_the_last_vote_of_a_person_counts():
    votes = [*votes_on("s-ana"), vote("s-ana", "bo", correct=False)]
    ballots = select_ballots(everyone_submits(), votes)
    (rejection,) = ballots.rejections
    assert rejection.entry == "votes.json, vote of 'bo' on 's-ana'"
    assert rejection.reason == "'bo' voted on 's-ana' again; the last vote counts"
    assert ballots.rows == votes[1:]
