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


def test_the_prompt_of_a_solver_has_the_question_and_the_described_image():
    (text,) = map(str, solver_prompt(PROPOSAL).turns[0].parts)
    assert text.startswith(
        "The image shows: exactly 7 of: apple\n\nAnn has the apples in the image"
    )
    assert '"#### "' in text


@pytest.mark.parametrize("hidden", ["21", "7*3", "5 apples"], ids=["key", "reason", "original"])
def test_the_prompt_of_a_solver_does_not_give_the_key_away(hidden):
    (text,) = map(str, solver_prompt(PROPOSAL).turns[0].parts)
    assert hidden not in text


def test_the_prompt_of_a_solver_has_the_images_of_a_proposal():
    prompt = solver_prompt(replace(PROPOSAL, images=("a" * 64,), shows=""))
    assert [image.sha256 for image in prompt.images] == ["a" * 64]


@pytest.mark.parametrize(
    ("form", "text", "vote", "answer"), read_cases(__file__, "solver_answers.jsonl")
)
def test_an_answer_of_a_solver_is_read_as_a_vote(form, text, vote, answer):
    proposal = {"number": PROPOSAL, "letters": LETTERS, "blanks": BLANKS}[form]
    row = read_vote(proposal, Response(text=text), "x", same_value)
    assert (row.vote, row.answer, row.last_line) == (vote, answer, text.splitlines()[-1])


def test_a_failed_request_is_an_absent_vote():
    vote = read_vote(PROPOSAL, Response(error="down"), "x", same_value)
    assert (vote.vote, vote.error) == ("absent", "down")


YES, OTHER, ABSENT = "21", "15", ""


def votes(*answers):
    """Votes of the solvers s0, s1, ... with these answers."""
    vote_by_answer: dict[str, Literal["yes", "absent"]] = {YES: "yes", ABSENT: "absent"}
    return [
        SolverVote(solver=f"s{n}", vote=vote_by_answer.get(answer, "no"), answer=answer)
        for n, answer in enumerate(answers)
    ]


@pytest.mark.parametrize(
    ("form", "answers", "decision_by_all", "decision_by_form_and_one"),
    read_cases(__file__, "votes.jsonl"),
)
def test_votes_decide(form, answers, decision_by_all, decision_by_form_and_one):
    proposal, solver_votes = replace(PROPOSAL, form=form), votes(*answers)
    by_all = decide(proposal, solver_votes, "all", same_value)
    by_form_and_one = decide(proposal, solver_votes, "form and one", same_value)
    assert by_all.decision == decision_by_all
    assert by_form_and_one.decision == decision_by_form_and_one


def test_a_rejected_proposal_has_the_reason_and_all_votes():
    row = decide(PROPOSAL, votes(OTHER, OTHER), "all", same_value)
    assert (row.by, row.reason) == ("solvers", "the solvers answer 15")
    assert (row.solvers, row.votes, row.answers) == (("s0", "s1"), ("no", "no"), ("15", "15"))


def test_a_proposal_that_an_annotator_requested_is_accepted_by_people():
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
def test_people_decide_open_proposals_unless_votes_are_merely_absent(answers, for_people):
    assert is_for_people(decide(PROPOSAL, votes(*answers), "all", same_value)) is for_people


def test_an_open_proposal_is_rejected_once_another_one_of_its_question_is_accepted():
    open_proposal = decide(PROPOSAL, votes(YES, OTHER), "all", same_value)
    accepted = decide(replace(PROPOSAL, id="p/8"), votes(YES, YES), "all", same_value)
    spare, second = drop_spare([open_proposal, accepted])
    assert (spare.decision, spare.reason) == ("rejected", "p/8 is accepted")
    assert second == accepted


def test_an_open_proposal_without_another_one_stays_open():
    open_proposal = decide(PROPOSAL, votes(YES, OTHER), "all", same_value)
    assert drop_spare([open_proposal]) == [open_proposal]


@pytest.mark.parametrize(
    ("answers", "verdicts", "decision", "by"),
    [
        pytest.param([YES, OTHER], [], "open", "", id="nobody looked"),
        pytest.param([YES, OTHER], ["right"], "accepted", "people", id="right"),
        pytest.param([YES, OTHER], ["other"], "rejected", "people", id="other"),
        pytest.param([YES, OTHER], ["contradictory"], "rejected", "people", id="contradictory"),
        pytest.param([YES, OTHER], ["right", "other"], "open", "", id="a tie"),
        pytest.param([YES, YES], ["other"], "rejected", "people", id="an accepted one in a sample"),
        pytest.param([OTHER, OTHER], ["right"], "rejected", "solvers", id="no question for people"),
    ],
)
def test_people_decide_open_and_sampled_proposals(answers, verdicts, decision, by):
    row = decide(PROPOSAL, votes(*answers), "all", same_value)
    key_verdicts = [
        KeyVerdict(proposal="p/7", person=f"p{n}", verdict=verdict, answer=OTHER)
        for n, verdict in enumerate(verdicts)
    ]
    (decided,) = apply_verdicts([row], key_verdicts)
    assert (decided.decision, decided.by) == (decision, by)
