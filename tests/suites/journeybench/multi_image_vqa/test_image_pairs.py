import json

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.tables.build import Table
from bench_assets.suites.journeybench.mcot.number_proposals import NUMBERS, number_candidates
from bench_assets.suites.journeybench.multi_image_vqa.image_pairs import (
    CauseAndEffect,
    plan_arithmetic,
    plan_causes,
    read_copa,
    read_knowledge,
    to_item,
)
from tests.suites.journeybench.construction import writers
from tests.suites.journeybench.mcot.test_number_proposals import APPLES, PIES, PROBLEM, quantity


def plan_pairs(quantities):
    """Plan pairs of images with the numbers that are accepted without solvers."""
    proposals = NUMBERS.vote(number_candidates([PROBLEM], quantities), (), lambda *_: [])
    return plan_arithmetic({"p": PROBLEM}, quantities, proposals)


def test_two_numbers_go_into_two_images_and_the_answer_follows_them():
    planned = plan_pairs([APPLES, PIES])
    assert planned.rejections == []
    (pair,) = planned.rows
    n_apples, n_pies = (int(prompt.split()[1]) for prompt in pair.prompts)  # "exactly 2 of: ..."
    assert pair.question.startswith(
        "Ann has the apples in the first picture and the pies in the second picture."
    )
    assert pair.answer == str(100 * n_apples + 200 * n_pies)
    assert {n_apples, n_pies}.isdisjoint({3, 5})
    assert to_item(pair).images == ("p-pair-1.png", "p-pair-2.png")


def test_a_problem_with_one_quantity_is_left_to_mcot():
    assert plan_pairs([APPLES]) == Table()


def test_quantities_with_words_in_common_are_not_paired():
    overlapping = quantity("apples and 5 pies", 5, "pies")
    planned = plan_pairs([APPLES, overlapping])
    assert planned.rows == []
    assert [row.reason for row in planned.rejections] == ["no two other numbers were accepted"]


COPA_ENTRY = {
    "premise": "The window broke.",
    "choice1": "The curtain was open.",
    "choice2": "A ball hit it.",
    "question": "cause",
    "label": 1,
    "idx": 7,
}
EVENT = CauseAndEffect(event_id="copa-7", cause="A ball hit it.", effect="The window broke.")


def write_copa(folder, entry):
    file = folder / "copa.jsonl"
    file.write_text(json.dumps(entry))
    return file


@pytest.mark.parametrize(
    ("change", "event"),
    [
        pytest.param({}, EVENT, id="the premise is the effect"),
        pytest.param(
            {"question": "effect", "label": 0},
            CauseAndEffect(
                event_id="copa-7", cause="The window broke.", effect="The curtain was open."
            ),
            id="the premise is the cause",
        ),
    ],
)
def test_a_copa_entry_is_read_as_cause_and_effect(tmp_path, change, event):
    assert read_copa(write_copa(tmp_path, COPA_ENTRY | change)).require() == [event]


@pytest.mark.parametrize("change", [{"question": "why"}, {"label": 2}, {"label": -1}])
def test_a_copa_entry_with_an_invalid_question_or_label_is_an_error(tmp_path, change):
    with pytest.raises(SourceError, match="line 1: question is"):
        read_copa(write_copa(tmp_path, COPA_ENTRY | change)).require()


def writer_response(text, error=""):
    return writers.response("copa-7/images", text, error)


@pytest.fixture(scope="module")
def cause_pairs():
    """Pairs of twenty events, of which each has a ball as the cause of a hole."""
    response = writer_response('[{"cause": "a ball", "effect": "a hole"}]')
    events = [CauseAndEffect(event_id=f"copa-{n}", cause="c", effect="e") for n in range(20)]
    return [pair for event in events for pair in plan_causes([event], [response]).rows]


def test_the_answer_is_the_image_of_the_event_in_question(cause_pairs):
    assert len(cause_pairs) == 20
    asked_and_right = {
        ("the cause?" in pair.question, pair.prompts[("image1", "image2").index(pair.answer)])
        for pair in cause_pairs
    }
    assert asked_and_right == {(True, "a ball"), (False, "a hole")}


def test_cause_and_effect_are_asked_for_with_each_image_as_the_answer(cause_pairs):
    assert len({("the cause?" in pair.question, pair.answer) for pair in cause_pairs}) == 4


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        pytest.param(writer_response("[]"), "cannot be seen", id="an empty list"),
        pytest.param(
            writer_response('[{"cause": "a ball"}]'), "unreadable response", id="no effect"
        ),
        pytest.param(writer_response("A ball."), "unreadable response", id="prose"),
        pytest.param(writer_response("", "connection lost"), "connection lost", id="no response"),
    ],
)
def test_an_event_without_usable_images_is_rejected_with_the_reason(response, reason):
    planned = plan_causes([EVENT], [response])
    assert [rejection.reason for rejection in planned.rejections] == [reason]
    assert planned.rows == []


def test_a_question_of_an_expert_is_read_with_its_images(tmp_path):
    file = tmp_path / "knowledge.jsonl"
    line = {"id": "k1", "image1": "a.png", "image2": "b.png", "question": "Legs?", "answer": "14"}
    file.write_text(json.dumps(line))
    (item,) = read_knowledge(file).require()
    assert (item.item_id, item.images, item.category) == (
        "k1",
        ("a.png", "b.png"),
        "External Knowledge",
    )
