from dataclasses import replace

import pytest

from bench_assets.annotation.gold import GoldStep, proposal_task
from bench_assets.core.schema.chat import Response
from tests.core.gold.test_proposals import PROPOSAL
from tests.fakes.answers import answer, complaint
from tests.fakes.rows import drawn_unit
from tests.suites import gold_measures

STEP = GoldStep(folder="quiz/tables", reads={}, candidates=lambda: [], quorum="all")
TASK = proposal_task(STEP)


def candidates(*keys):
    return [replace(PROPOSAL, id=f"p/{n}", key=str(key)) for n, key in enumerate(keys)]


def vote(queue, solvers=("x", "y"), **answers):
    """Vote with solvers that always give the same answer: (rows, names of the requests)."""
    request_names: list[str] = []

    def ask(solver, requests):
        request_names.extend(f"{solver} {request.name}" for request in requests)
        return [Response(text=f"#### {answers[solver]}") for _ in requests]

    return STEP.vote([queue], solvers, ask), request_names


def test_a_refused_number_is_replaced_by_the_next_one():
    rows, request_names = vote(candidates(1, 2, 3, 4), x="2", y="2")
    assert request_names == ["x p/0", "y p/0", "x p/1", "y p/1"]
    assert [(row.id, row.decision) for row in rows] == [("p/0", "rejected"), ("p/1", "accepted")]


@pytest.mark.parametrize("fields", [{"answer_form": "text"}, {"requested_by": "ana"}])
def test_solvers_get_no_texts_and_no_requested_proposals(fields):
    _, request_names = vote([replace(PROPOSAL, **fields)], x="2", y="2")
    assert request_names == []


def test_people_see_the_change_the_key_and_the_last_lines_of_solvers():
    rows, _ = vote(candidates(21), x="21", y="none")
    (unit,) = TASK.units(rows)
    assert unit.shown == {
        "Question before": PROPOSAL.before,
        "Question": "Ann has «the» apples «in the image» at 3 dollars. What do they cost?",
        "The image will show": "exactly 7 of: apple",
        "Key": "21\n7*3 = 21",
        "Solver 1": "#### 21",
        "Solver 2": "#### none",
    }


def test_a_correction_of_the_key_is_a_verdict_with_another_answer():
    rows, _ = vote(candidates(21), x="21", y="none")
    (unit,) = TASK.units(rows)
    correction = answer(unit.unit_id, "ana", verdict="another answer is right", answer="15")
    assert complaint(TASK.task, unit, correction) == ""
    (row,) = TASK.to_rows([correction])
    assert (row.proposal, row.person, row.verdict, row.answer) == ("p/0", "ana", "other", "15")


def test_accepted_proposals_are_shown_only_if_they_were_drawn():
    rows, _ = vote(candidates(21), x="21", y="21")
    assert TASK.units(rows) == []
    draw = drawn_unit("p/0", task=TASK.task.name, stratum="accepted", probability=1.0)
    assert [unit.unit_id for unit in TASK.units(rows, drawn=[draw])] == ["p/0"]


@pytest.fixture
def _real_problems(shared_data):
    if not (shared_data.parent / "gold" / "labelled.jsonl").is_file():
        pytest.skip("no labelled problems beside the checkout")


@pytest.mark.long
@pytest.mark.usefixtures("_real_problems")
def test_the_form_alone_proves_the_changed_number_in_three_of_ten_problems():
    figures = gold_measures.number_figures()
    assert figures["problems with brackets"] == 2957
    assert figures["by form alone, of problems"] >= 0.30
    assert figures["by form alone, of quantities of things"] >= 0.25


@pytest.mark.long
@pytest.mark.usefixtures("_real_problems")
@pytest.mark.parametrize("share_old", [0.0, 0.5])
def test_no_wrong_item_is_proven_or_accepted_among_those_solved_by_hand(share_old):
    figures = gold_measures.labelled_figures(share_old)
    assert figures["solved by hand"] == 389
    assert figures["proven by form, and wrong"] == 0
    assert figures["proven by form, and contradictory"] == 4  # no form shows a contradiction
    assert figures["accepted, and right (least)"] >= 300  # both solvers are right in 0.855 of 374
    assert figures["accepted, and wrong (most)"] == 0
    assert figures["accepted, and contradictory (most)"] <= 1  # both solvers overlook it


@pytest.mark.long
@pytest.mark.usefixtures("_real_problems")
def test_exam_items_are_transformed_without_words_as_blanks_and_combined_options_negated():
    figures = gold_measures.exam_figures()
    assert figures["by form"] >= 0.25
    assert figures["choose_elements by form"] >= 0.90
    assert figures["accepted with solvers"] >= 0.60
    assert figures["combined options negated"] == figures["words as blanks"] == 0
