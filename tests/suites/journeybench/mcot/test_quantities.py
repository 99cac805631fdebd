import json
from dataclasses import replace

import pytest

from bench_assets.suites.journeybench.mcot.planned_images import (
    counts_by_image,
    plan_images,
    read_counts,
    to_items,
)
from bench_assets.suites.journeybench.mcot.problems import Problem
from bench_assets.suites.journeybench.mcot.quantities import find_quantities
from tests.cases import read_cases
from tests.suites.journeybench.construction import writers

PROBLEM = Problem(
    problem_id="p",
    question="Ann has three apples. 12 eggs and 8 pies lie there. How many apples, eggs and pies?",
    solution="Apples and eggs: <<3+12=15>>15\nWith the pies: <<15+8=23>>23",
    answer="23",
)
PROPOSAL = {
    "text": "three apples",
    "number": "3",
    "things": "apples",
    "image_prompt": "A table with exactly {count} of: red apple",
}


def writer_response(text, error=""):
    return writers.response("p/quantities", text, error)


def find_proposed(*proposals):
    return find_quantities([PROBLEM], [writer_response(json.dumps(proposals))])


@pytest.mark.parametrize("number", ["3", "three", "3.0", " 3 "])
def test_a_proposal_in_the_words_of_the_problem_is_kept_with_its_origin(number):
    quantities = find_proposed(PROPOSAL | {"number": number})
    assert quantities.rejections == []
    (quantity,) = quantities.rows
    assert (quantity.quantity_id, quantity.number, quantity.things) == ("p/1", 3, "apples")
    assert (quantity.writer, quantity.prompt_sha256) == ("w", "sha")


@pytest.mark.parametrize(("change", "reason"), read_cases(__file__, "invalid_proposals.jsonl"))
def test_an_invalid_proposal_is_rejected_with_the_reason(change, reason):
    quantities = find_proposed(PROPOSAL | change)
    assert quantities.rows == []
    (rejection,) = quantities.rejections
    assert rejection.entry == "p/1"
    assert reason in rejection.reason


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        pytest.param(writer_response("[]"), "nothing to be seen", id="an empty list"),
        pytest.param(writer_response("There are apples."), "unreadable response", id="prose"),
        pytest.param(writer_response('[{"": "\\ud83d"}]'), "unreadable response", id="half a sign"),
        pytest.param(writer_response('["apples"]'), "unreadable response", id="a list of texts"),
        pytest.param(writer_response("", "connection lost"), "connection lost", id="no response"),
    ],
)
def test_a_response_without_proposals_is_rejected_with_the_reason(response, reason):
    quantities = find_quantities([PROBLEM], [response])
    assert [rejection.reason for rejection in quantities.rejections] == [reason]


def plan_three_images():
    """Images with the problem's 3 apples, with 5 apples, and with none."""
    return plan_images(find_proposed(PROPOSAL).rows, {"p/1": (5,)})


def test_every_prompt_counts_what_the_image_shows():
    original, changed, absent = plan_three_images()
    assert original.prompt == "A table with exactly 3 of: red apple"
    assert changed.prompt.startswith("A table with exactly 5 of: red apple, and exactly")
    assert (original.count, changed.count, absent.count) == (3, 5, 0)
    assert "apple" not in absent.prompt


def test_a_solution_with_a_wrong_calculation_is_rejected():
    miscalculated = replace(PROBLEM, solution="<<3+12=16>>16\n<<16+8=24>>24", answer="24")
    (rejection,) = find_quantities(
        [miscalculated], [writer_response(json.dumps([PROPOSAL]))]
    ).rejections
    assert rejection.reason == "the calculations do not lead to the answer"


def items_of_three_images(counts_by_image):
    quantities = {row.quantity_id: row for row in find_proposed(PROPOSAL).rows}
    return to_items({"p": PROBLEM}, quantities, plan_three_images(), counts_by_image)


def test_all_items_of_a_problem_have_a_text_without_the_number():
    texts = [item.question for item in items_of_three_images({}).rows]
    assert texts == 3 * [
        "Ann has the apples in the image. 12 eggs and 8 pies lie there. "
        "How many apples, eggs and pies?"
    ]


def test_the_answer_follows_the_image():
    original, changed, absent = items_of_three_images({}).rows
    assert original.solution == "3+12 = 15\n15+8 = 23"
    assert original.answer == "23"
    assert changed.answer == "25"  # 5 + 12 + 8
    assert absent.answer == "there are no apples; there are not any apples; 20"  # 12 + 8
    assert absent.category == "hallucination"


@pytest.mark.parametrize(
    ("counts", "n_items"),
    [
        pytest.param([3, 3, 4], 3, id="most annotators count what was planned"),
        pytest.param([4, 4, 3], 2, id="most annotators count otherwise"),
        pytest.param([3, 4], 2, id="half of the annotators are not most"),
        pytest.param([], 3, id="nobody counted"),
    ],
)
def test_an_image_that_shows_another_number_is_rejected(counts, n_items):
    original, *_ = plan_three_images()
    items = items_of_three_images({original.name: counts})
    assert len(items.rows) == n_items
    assert len(items.rejections) == 3 - n_items


def test_the_last_count_of_each_annotator_is_read(tmp_path):
    file = tmp_path / "image_counts.jsonl"
    file.write_text(
        '{"image": "a.png", "annotator": "x", "count": 2}\n'
        '{"image": "a.png", "annotator": "y", "count": 3}\n'
        '{"image": "a.png", "annotator": "x", "count": 4}\n'
    )
    assert counts_by_image(read_counts(file).require()) == {"a.png": [4, 3]}


def test_an_image_that_makes_the_answer_a_fraction_is_rejected():
    bags = Problem(
        problem_id="p",
        question="Ann has 8 apples, each bag holds two. How many bags does she fill?",
        solution="Apples in bags: <<8/2=4>>4",
        answer="4",
    )
    proposal = PROPOSAL | {"text": "8 apples", "number": "8"}
    (quantity,) = find_quantities([bags], [writer_response(json.dumps([proposal]))]).rows
    original, *_ = plan_three_images()
    image = replace(original, variant="another number", count=5)
    items = to_items({"p": bags}, {"p/1": quantity}, [image], {})
    assert items.rows == []
    (rejection,) = items.rejections
    assert "with 5 the calculations give no whole number" in rejection.reason


@pytest.mark.parametrize(
    ("sentence", "solution", "answer", "number_without_apples"),
    [
        pytest.param("1 is eaten.", "Apples eaten: <<3-1=2>>2", "2", "", id="below zero"),
        pytest.param(
            "Each is on 8 plates, 1 is eaten.",
            "Apples on plates: <<3/8=0.375>>0.375\nEaten: <<0.375+1=1.375>>1.375",
            "1.375",
            "; 1",
            id="a whole number",
        ),
        pytest.param(
            "And 1.5 of weight.", "Apples and weight: <<3+1.5=4.5>>4.5", "4.5", "", id="a fraction"
        ),
    ],
)
def test_without_things_only_a_whole_number_from_zero_on_is_an_answer(
    sentence, solution, answer, number_without_apples
):
    question = f"Ann has three apples. {sentence} How many?"
    problem = replace(PROBLEM, question=question, solution=solution, answer=answer)
    (quantity,) = find_quantities([problem], [writer_response(json.dumps([PROPOSAL]))]).rows
    *_, absent = plan_images([quantity], {})
    (item,) = to_items({"p": problem}, {"p/1": quantity}, [absent], {}).rows
    expected_answer = f"there are no apples; there are not any apples{number_without_apples}"
    assert item.answer == expected_answer
