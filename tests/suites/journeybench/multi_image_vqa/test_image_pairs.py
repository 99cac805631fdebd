"""Pairs of images: two numbers of a problem, a cause and its effect, what experts ask."""

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


def plan(quantities):
    decided = NUMBERS.vote(number_candidates([PROBLEM], quantities), (), lambda *_: [])
    return plan_arithmetic({"p": PROBLEM}, quantities, decided)


def test_two_numbers_go_into_two_images_and_the_answer_follows_them():
    planned = plan([APPLES, PIES])
    (pair,), rejections = planned.rows, planned.rejections
    n_apples, n_pies = (int(prompt.split()[1]) for prompt in pair.prompts)
    assert rejections == []
    assert pair.question.startswith(
        "Ann has the apples in the first picture and the pies in the second picture."
    )
    assert pair.answer == str(100 * n_apples + 200 * n_pies)
    assert {n_apples, n_pies}.isdisjoint({3, 5})
    assert to_item(pair).images == ("p-pair-1.png", "p-pair-2.png")


def test_a_problem_with_one_quantity_is_left_to_mcot():
    assert plan([APPLES]) == Table()


def test_quantities_with_words_in_common_are_not_paired():
    both = quantity("apples and 5 pies", 5, "pies")
    planned = plan([APPLES, both])
    assert planned.rows == []
    assert [row.reason for row in planned.rejections] == ["no two other numbers were accepted"]


ENTRY = {
    "premise": "The window broke.",
    "choice1": "The curtain was open.",
    "choice2": "A ball hit it.",
    "question": "cause",
    "label": 1,
    "idx": 7,
}
EVENT = CauseAndEffect(event_id="copa-7", cause="A ball hit it.", effect="The window broke.")


def write(folder, entry):
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
def test_copa_says_which_event_is_the_cause(tmp_path, change, event):
    assert read_copa(write(tmp_path, ENTRY | change)).require() == [event]


@pytest.mark.parametrize("change", [{"question": "why"}, {"label": 2}, {"label": -1}])
def test_a_copa_entry_that_asks_for_nothing_is_an_error(tmp_path, change):
    with pytest.raises(SourceError, match="line 1: question is"):
        read_copa(write(tmp_path, ENTRY | change)).require()


def response(text, error=""):
    return writers.response("copa-7/images", text, error)


def test_the_answer_is_the_position_of_the_wanted_image():
    wanted_positions = set()
    for number in range(20):
        event = CauseAndEffect(event_id=f"copa-{number}", cause="c", effect="e")
        responded = response('[{"cause": "a ball", "effect": "a hole"}]')
        (pair,) = plan_causes([event], [responded]).rows
        wanted = "a ball" if "the cause?" in pair.question else "a hole"
        assert pair.prompts[("image1", "image2").index(pair.answer)] == wanted
        wanted_positions.add((wanted, pair.answer))
    assert len(wanted_positions) == 4, (
        "both events are asked for, and both places are right at times"
    )


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param(response("[]"), "cannot be seen", id="an empty list"),
        pytest.param(response('[{"cause": "a ball"}]'), "unreadable response", id="half of it"),
        pytest.param(response("A ball."), "unreadable response", id="prose"),
        pytest.param(response("", "connection lost"), "connection lost", id="no response"),
    ],
)
def test_events_that_are_not_drawn_say_why(answer, reason):
    planned = plan_causes([EVENT], [answer])
    assert [rejection.reason for rejection in planned.rejections] == [reason]
    assert planned.rows == []


def test_experts_ask_about_images_of_the_source(tmp_path):
    file = tmp_path / "knowledge.jsonl"
    line = {"id": "k1", "image1": "a.png", "image2": "b.png", "question": "Legs?", "answer": "14"}
    file.write_text(json.dumps(line))
    (item,) = read_knowledge(file).require()
    assert (item.item_id, item.images, item.category) == (
        "k1",
        ("a.png", "b.png"),
        "External Knowledge",
    )
