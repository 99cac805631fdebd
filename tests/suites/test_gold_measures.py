"""On real problems, proposed questions are many, and wrong ones are not accepted."""

import pytest

from tests.suites import gold_measures as measured

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True)
def _real_data(shared_data):
    if not (shared_data.parent / "gold" / "labelled.jsonl").is_file():
        pytest.skip("no labelled problems beside the checkout")


def test_the_form_alone_proves_another_number_in_three_of_ten_problems():
    figures = measured.number_figures()
    assert figures["problems with brackets"] == 2957
    assert figures["by form alone, of problems"] >= 0.30
    assert figures["by form alone, of quantities of things"] >= 0.25


@pytest.mark.parametrize("share_old", [0.0, 0.5])
def test_of_what_was_solved_by_hand_nothing_wrong_is_accepted(share_old):
    figures = measured.labelled_figures(share_old)
    assert figures["solved by hand"] == 389
    assert figures["proven by form, and wrong"] == 0
    assert figures["proven by form, and contradictory"] == 4
    assert figures["accepted, and wrong (most)"] == 0
    assert figures["accepted, and contradictory (most)"] <= 1


@pytest.mark.parametrize("share_old", [0.0, 0.5])
@pytest.mark.parametrize(("tries", "least"), [(1, 0.40), (3, 0.50)])
def test_solvers_accept_a_number_in_half_of_the_problems(share_old, tries, least):
    figures = measured.yield_figures(share_old, tries)
    assert figures[f"accepted at {tries}, of problems"] >= least
    assert figures[f"open at {tries}, of proposals"] <= 0.20


def test_exam_items_are_transformed_without_words_as_blanks_and_combined_options_negated():
    figures = measured.exam_figures()
    assert figures["by form"] >= 0.25
    assert figures["choose_elements by form"] >= 0.90
    assert figures["accepted with solvers"] >= 0.60
    assert figures["combined options negated"] == figures["words as blanks"] == 0
