"""Data verification, on small sets of votes that one can count."""

import json

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Judgement
from bench_assets.suites.codis.studies import (
    JudgeLabel,
    consistency,
    labels_of,
    majority_judgements,
    read_labels,
    vote_agreement,
)
from bench_assets.suites.codis.studies import agreement as judge_agreement
from bench_assets.suites.codis.votes import count_ballots, decide_submissions
from tests.fakes.codis_source import pair, vote
from tests.fakes.rows import prediction

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
            votes_on("s-ana", "correct"),
            "dropped",
            "3 of 4 others approve; not correct: bo",
            id="one says it is wrong",
        ),
        pytest.param(
            votes_on("s-ana", "different"),
            "dropped",
            "3 of 4 others approve; not different: bo",
            id="one has seen it before",
        ),
        pytest.param(
            votes_on("s-ana", "within_rules", "correct", "within_rules", "within_rules"),
            "dropped",
            "0 of 4 others approve; not correct: cem; not within the rules: bo, dia, eli",
            id="nobody approves, for different reasons",
        ),
        pytest.param(votes_on("s-ana")[:3], "open", "3 of 4 others voted", id="a vote is missing"),
        pytest.param(
            [*votes_on("s-ana")[:3], vote("s-ana", "ana")],
            "open",
            "3 of 4 others voted",
            id="one's own vote takes nobody's place",
        ),
        pytest.param([], "open", "0 of 4 others voted", id="nobody voted"),
        pytest.param(
            votes_on("s-ana", "correct")[:2],
            "open",
            "2 of 4 others voted",
            id="one against it does not decide before the others",
        ),
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


@pytest.mark.parametrize(
    ("n_against", "approval", "outcome"),
    [
        pytest.param(1, 0.75, "kept", id="three of four are three quarters"),
        pytest.param(2, 0.75, "dropped", id="two of four are fewer"),
        pytest.param(2, 0.5, "kept", id="two of four are a half"),
    ],
)
def test_the_share_that_must_approve_is_a_parameter(n_against, approval, outcome):
    votes = votes_on("s-ana", *["correct"] * n_against)
    assert decide_submissions(everyone_submits(), votes, approval)[0].outcome == outcome


def test_nobody_can_verify_their_own_edition():
    (decision,) = decide_submissions([pair(pair_id="s1", annotator="ana")], [])
    assert (decision.outcome, decision.reason) == ("open", "0 of 0 others voted")


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
        pytest.param(vote("s-ana", "ana"), "on their own submission", id="one's own"),
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


def test_agreement_by_pencil():
    # Correct: y y y y on one, n n y y on the other. Of 6 pairs of votes each, 6 and 2 agree.
    # Alpha: 8 votes, 6 y and 2 n: D_o = (2 * 2 * 2 / 3) / 8 = 1/3, D_e = 2 * 6 * 2 / (8 * 7) = 3/7.
    votes = [
        *votes_on("s-ana"),
        vote("s-bo", "ana", correct=False),
        vote("s-bo", "cem", correct=False),
        vote("s-bo", "dia"),
        vote("s-bo", "eli"),
    ]
    rows = {row.criterion: row for row in vote_agreement(everyone_submits(), votes)}
    assert list(rows) == ["correct", "different", "within_rules", "all"]
    assert rows["correct"].n == 2
    assert rows["correct"].unanimous == 0.5
    assert rows["correct"].pairwise == pytest.approx(2 / 3)
    assert rows["correct"].alpha == pytest.approx(1 - (1 / 3) / (3 / 7))
    assert rows["different"].unanimous == 1.0
    assert rows["all"].pairwise == rows["correct"].pairwise


def judged(judge, *verdicts):
    return [
        Judgement.of(
            prediction(question_id=f"q{n}"),
            judge=judge,
            criterion="correct",
            verdict=v,
            response="",
        )
        for n, v in enumerate(verdicts)
    ]


def labels(question_id, votes, tie_break=None):
    """One letter a person: r for right, w for wrong."""
    people = [
        JudgeLabel(question_id=question_id, correct=vote == "r", annotator=str(n))
        for n, vote in enumerate(votes)
    ]
    fifth = [JudgeLabel(question_id=question_id, correct=tie_break == "r", tie_break=True)]
    return people + (fifth if tie_break else [])


@pytest.mark.parametrize(
    ("first", "second", "value", "n_scored", "n_unscored"),
    [
        pytest.param((True, False), (True, False), 1.0, 2, 0, id="of one mind"),
        pytest.param((True, False, True, True), (True, True, True, False), 0.5, 4, 0, id="half"),
        pytest.param((True, None, None), (True, False, None), 1.0, 1, 2, id="unreadable verdicts"),
        pytest.param((True, True, True), (False,), 0.0, 1, 0, id="one saw only a sample"),
    ],
)
def test_agreement_is_over_what_both_judged(first, second, value, n_scored, n_unscored):
    for one, other in ((first, second), (second, first)):
        agreement = judge_agreement(judged("a", *one), judged("b", *other))
        assert (agreement.value, agreement.n_scored, agreement.n_unscored) == (
            value,
            n_scored,
            n_unscored,
        )


def test_table_7_agreement_of_gpt_4v():
    people = judged("people", *[True] * 706)
    gpt4 = judged("gpt-4", *[n >= 17 for n in range(706)])
    assert f"{100 * judge_agreement(people, gpt4).value:.1f}" == "97.6"


@pytest.mark.parametrize(
    ("voted", "value", "n"),
    [
        pytest.param(labels("q", "rrrr"), 1.0, 4, id="all agree"),
        pytest.param(labels("q", "rrrw"), 0.75, 4, id="one of four is outvoted"),
        pytest.param(labels("q", "rrww", "w"), 0.5, 4, id="the fifth decides but does not count"),
        pytest.param(labels("q", "wwwr", "r"), 0.75, 4, id="without a tie a fifth decides nothing"),
        pytest.param(labels("q", "rrrr") + labels("p", "wwwr"), 0.875, 8, id="two queries"),
    ],
)
def test_consistency_by_the_equation_of_appendix_a(voted, value, n):
    agreed = consistency(voted)
    assert (agreed.value, agreed.n_scored) == (value, n)


def test_a_tie_that_nobody_broke_is_named():
    with pytest.raises(SourceError, match=r"codis/017/2: 2 say right and 2 wrong; .*tie_break"):
        consistency(labels("q", "rrrr") + labels("codis/017/2", "rwrw"))


def test_people_judge_by_majority_what_they_looked_at():
    predictions = [prediction(question_id=q) for q in ("q1", "q2", "q3")]
    rows = majority_judgements(labels("q1", "rrw") + labels("q3", "wr", "w"), predictions)
    assert [(r.question_id, r.judge, r.verdict, r.response) for r in rows] == [
        ("q1", "people", True, "2 of 3 say right"),
        ("q3", "people", False, "1 of 3 say right"),
    ]


def test_labels_of_unknown_questions_are_refused():
    with pytest.raises(SourceError, match="1 unknown questions, such as codis/999/1"):
        majority_judgements(labels("codis/999/1", "r"), [prediction(question_id="codis/000/1")])


def test_labels_belong_to_the_model_they_name_or_to_any():
    mine, other, any_model = (
        JudgeLabel(question_id="q", correct=True, model=name) for name in ("m", "n", "")
    )
    assert labels_of("m", [mine, other, any_model]) == [mine, any_model]


def write(file, *entries):
    file.write_text("\n".join(e if isinstance(e, str) else json.dumps(e) for e in entries))
    return file


def test_labels_are_read_line_by_line(tmp_path):
    file = write(
        tmp_path / "labels.jsonl",
        {"question_id": "codis/000/1", "correct": True},
        "",
        {"question_id": "codis/000/1", "correct": False, "model": "m", "annotator": "5",
         "tie_break": True},
    )  # fmt: skip
    assert read_labels(file) == [
        JudgeLabel(question_id="codis/000/1", correct=True),
        JudgeLabel(
            question_id="codis/000/1", correct=False, model="m", annotator="5", tie_break=True
        ),
    ]


GOOD = {"question_id": "codis/000/1", "correct": True}


@pytest.mark.parametrize(
    "second",
    [
        pytest.param('{"question_id": "codis/00', id="cut short"),
        pytest.param("[1]", id="a list"),
        pytest.param({"question_id": "codis/000/2"}, id="no verdict"),
        pytest.param({"correct": True}, id="no question"),
        pytest.param({"question_id": "codis/000/2", "correct": "yes"}, id="a verdict in words"),
        pytest.param({"question_id": "codis/000/2", "correct": 1}, id="a number"),
        pytest.param(
            {"question_id": "codis/000/2", "correct": True, "tiebreak": True}, id="a misspelt field"
        ),
        pytest.param(GOOD, id="the same person, model and question again"),
    ],
)
def test_bad_labels_are_named_by_file_and_line(tmp_path, second):
    with pytest.raises(SourceError, match=r"labels\.jsonl, line 2"):
        read_labels(write(tmp_path / "labels.jsonl", GOOD, second))
