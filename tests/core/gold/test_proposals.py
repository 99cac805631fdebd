"""Solvers' answers become votes, votes decisions, and people decide the rest."""

from dataclasses import replace
from typing import Literal

import pytest

from bench_assets.core.gold.proposals import (
    KeyVerdict,
    Proposal,
    SolverVote,
    apply_verdicts,
    decide,
    drop_spare,
    is_for_people,
    read_vote,
    same_value,
    solver_prompt,
)
from bench_assets.core.schema.chat import Response
from tests.cases import read_cases

PROPOSAL = Proposal(
    id="p/7",
    question_id="p",
    construction="another number",
    before="Ann has 5 apples at 3 dollars. What do they cost?",
    question="Ann has the apples in the image at 3 dollars. What do they cost?",
    shows="exactly 7 of: apple",
    answer_form="number",
    key="21",
    form="calculated",
    why="7*3 = 21",
)
LETTERS = replace(PROPOSAL, answer_form="letters", key="AC", form="")
BLANKS = replace(PROPOSAL, answer_form="blanks", key="2\nH2O", form="")


def test_a_solver_sees_the_question_and_the_image_and_nothing_else():
    (text,) = map(str, solver_prompt(PROPOSAL).turns[0].parts)
    assert text.startswith(
        "The image shows: exactly 7 of: apple\n\nAnn has the apples in the image"
    )
    assert '"#### "' in text
    assert not any(hidden in text for hidden in ("21", "7*3", "5 apples"))


def test_pictures_that_are_made_are_shown():
    shown = solver_prompt(replace(PROPOSAL, images=("a" * 64,), shows=""))
    assert [image.sha256 for image in shown.images] == ["a" * 64]


@pytest.mark.parametrize(
    ("form", "text", "vote", "answer"), read_cases(__file__, "solver_answers.jsonl")
)
def test_an_answer_is_a_vote(form, text, vote, answer):
    proposal = {"number": PROPOSAL, "letters": LETTERS, "blanks": BLANKS}[form]
    found = read_vote(proposal, Response(text=text), "x", same_value)
    assert (found.vote, found.answer, found.last_line) == (vote, answer, text.splitlines()[-1])


def test_a_failed_request_is_an_absent_vote():
    vote = read_vote(PROPOSAL, Response(error="down"), "x", same_value)
    assert (vote.vote, vote.error) == ("absent", "down")


YES, OTHER, ABSENT = "21", "15", ""


def votes(*answers):
    kinds: dict[str, Literal["yes", "absent"]] = {YES: "yes", ABSENT: "absent"}
    return [
        SolverVote(f"s{n}", kinds.get(answer, "no"), answer) for n, answer in enumerate(answers)
    ]


@pytest.mark.parametrize(
    ("form", "answers", "whole", "one"),
    read_cases(__file__, "votes.jsonl"),
)
def test_votes_decide(form, answers, whole, one):
    proposal = replace(PROPOSAL, form=form)
    assert decide(proposal, votes(*answers), "all", same_value).decision == whole
    assert decide(proposal, votes(*answers), "form and one", same_value).decision == one


def test_a_rejection_has_the_other_answer_and_every_vote_is_in_the_row():
    row = decide(PROPOSAL, votes(OTHER, OTHER), "all", same_value)
    assert (row.by, row.reason) == ("solvers", "the solvers answer 15")
    assert (row.solvers, row.votes, row.answers) == (("s0", "s1"), ("no", "no"), ("15", "15"))


def test_what_an_annotator_requested_is_decided():
    row = decide(replace(LETTERS, requested_by="ana"), [], "all", same_value)
    assert (row.decision, row.by) == ("accepted", "people")


@pytest.mark.parametrize(
    ("answers", "for_people"),
    [
        pytest.param([YES, OTHER], True, id="they differ"),
        pytest.param([OTHER, ABSENT], True, id="one denies it, one is absent"),
        pytest.param([YES, ABSENT], False, id="merely absent"),
        pytest.param([ABSENT, ABSENT], False, id="both absent"),
        pytest.param([], True, id="without solvers"),
        pytest.param([YES, YES], False, id="accepted"),
        pytest.param([OTHER, OTHER], False, id="rejected"),
    ],
)
def test_people_see_what_is_open_and_not_merely_absent(answers, for_people):
    assert is_for_people(decide(PROPOSAL, votes(*answers), "all", same_value)) is for_people


def test_an_open_number_is_spare_once_another_one_is_accepted():
    first = decide(PROPOSAL, votes(YES, OTHER), "all", same_value)
    second = decide(replace(PROPOSAL, id="p/8"), votes(YES, YES), "all", same_value)
    spare, kept = drop_spare([first, second])
    assert (spare.decision, spare.reason, kept) == ("rejected", "p/8 is accepted", second)
    assert drop_spare([first]) == [first]


def verdict(kind, person="ana", answer=""):
    return KeyVerdict(proposal="p/7", person=person, verdict=kind, answer=answer)


@pytest.mark.parametrize(
    ("answers", "verdicts", "decision", "by"),
    [
        pytest.param([YES, OTHER], [], "open", "", id="nobody looked"),
        pytest.param([YES, OTHER], [verdict("right")], "accepted", "people", id="right"),
        pytest.param([YES, OTHER], [verdict("other", "b", "15")], "rejected", "people", id="other"),
        pytest.param(
            [YES, OTHER], [verdict("contradictory")], "rejected", "people", id="contradictory"
        ),
        pytest.param(
            [YES, OTHER], [verdict("right"), verdict("other", "bo")], "open", "", id="a tie"
        ),
        pytest.param([YES, YES], [verdict("other")], "rejected", "people", id="a drawn one"),
        pytest.param([OTHER, OTHER], [verdict("right")], "rejected", "solvers", id="not asked"),
    ],
)
def test_people_decide(answers, verdicts, decision, by):
    row = decide(PROPOSAL, votes(*answers), "all", same_value)
    (decided,) = apply_verdicts([row], verdicts)
    assert (decided.decision, decided.by) == (decision, by)
