"""What a model proposes to show is checked word by word, and images are planned from it."""

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
from tests.suites.journeybench.construction import writers

PROBLEM = Problem(
    problem_id="p",
    question="Ann has three apples. 12 eggs and 8 pies lie there. How many apples, eggs and pies?",
    solution="Apples and eggs: <<3+12=15>>15\nWith the pies: <<15+8=23>>23",
    answer="23",
)
GOOD = {
    "text": "three apples",
    "number": "3",
    "things": "apples",
    "image_prompt": "A table with exactly {count} of: red apple",
}


def response(text, error=""):
    return writers.response("p/quantities", text, error)


def find(*proposals):
    return find_quantities([PROBLEM], [response(json.dumps(proposals))])


@pytest.mark.parametrize("number", ["3", "three", "3.0", " 3 "])
def test_a_proposal_that_stands_in_the_problem_is_kept_with_its_origin(number):
    quantities = find(GOOD | {"number": number})
    (quantity,), rejections = quantities.rows, quantities.rejections
    assert (quantity.quantity_id, quantity.number, quantity.things) == ("p/1", 3, "apples")
    assert (quantity.writer, quantity.prompt_sha256) == ("w", "sha")
    assert rejections == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        pytest.param({"text": "3 apples"}, "'3 apples' does not occur", id="words changed"),
        pytest.param({"number": "5"}, "does not give the number 5", id="another number"),
        pytest.param(
            {"text": "three apples. 12 eggs", "number": "3"}, "does not give", id="two numbers"
        ),
        pytest.param({"things": "three apples"}, "have a number", id="a number in the things"),
        pytest.param({"image_prompt": "apples"}, "not exactly one {count}", id="no place for it"),
        pytest.param({"things": " "}, "one of text, number", id="an empty field"),
        pytest.param({"number": "many"}, "cannot be counted", id="no number"),
    ],
)
def test_a_proposal_that_does_not_fit_says_why(change, reason):
    found = find(GOOD | change)
    quantities, (rejection,) = found.rows, found.rejections
    assert quantities == []
    assert rejection.entry == "p/1"
    assert reason in rejection.reason


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param(response("[]"), "nothing to be seen", id="an empty list"),
        pytest.param(response("There are apples."), "unreadable response", id="prose"),
        pytest.param(response('["apples"]'), "unreadable response", id="a list of texts"),
        pytest.param(response("", "connection lost"), "connection lost", id="no response"),
    ],
)
def test_a_response_without_proposals_says_why(answer, reason):
    quantities = find_quantities([PROBLEM], [answer])
    assert [rejection.reason for rejection in quantities.rejections] == [reason]


OTHER = 5  # the accepted other number


def planned():
    return plan_images(find(GOOD).rows, {"p/1": (OTHER,)})


def test_every_prompt_counts_what_the_image_shows():
    written, other, absent = planned()
    assert written.prompt == "A table with exactly 3 of: red apple"
    assert other.prompt.startswith(f"A table with exactly {other.count} of: red apple, and exactly")
    assert other.count not in (3, 8, 12)
    assert absent.count == 0
    assert "apple" not in absent.prompt


def test_a_solution_that_calculates_wrongly_is_not_used():
    wrong = replace(PROBLEM, solution="<<3+12=16>>16\n<<16+8=24>>24", answer="24")
    (rejection,) = find_quantities([wrong], [response(json.dumps([GOOD]))]).rejections
    assert rejection.reason == "the calculations do not lead to the answer"


def items(counts):
    quantities = {row.quantity_id: row for row in find(GOOD).rows}
    return to_items({"p": PROBLEM}, quantities, planned(), counts)


def test_the_number_leaves_the_text_and_the_answer_follows_the_image():
    written, other, absent = items({}).rows
    assert {one.question for one in (written, other, absent)} == {
        "Ann has the apples in the image. 12 eggs and 8 pies lie there. "
        "How many apples, eggs and pies?"
    }
    assert (written.answer, other.answer) == ("23", str(OTHER + 12 + 8))
    assert absent.answer == "there are no apples; there are not any apples; 20"
    assert absent.category == "hallucination"
    assert written.solution == "3+12 = 15\n15+8 = 23"


@pytest.mark.parametrize(
    ("counts", "n"),
    [
        pytest.param([3, 3, 4], 3, id="most of them count what was planned"),
        pytest.param([4, 4, 3], 2, id="most of them count otherwise"),
        pytest.param([3, 4], 2, id="half of them are not most"),
        pytest.param([], 3, id="nobody counted"),
    ],
)
def test_a_image_that_shows_another_number_is_left_out(counts, n):
    made = items({planned()[0].name: counts})
    assert len(made.rows) == n
    assert len(made.rejections) == 3 - n


def test_counts_are_read_by_image(tmp_path):
    file = tmp_path / "image_counts.jsonl"
    lines = [{"image": "a.png", "annotator": name, "count": n} for name, n in (("x", 2), ("y", 3))]
    file.write_text("\n".join(json.dumps(line) for line in lines))
    assert counts_by_image(read_counts(file).require()) == {"a.png": [2, 3]}


def test_a_image_with_which_the_answer_is_no_whole_number_is_left_out():
    bags = Problem(
        problem_id="p",
        question="Ann has 8 apples, each bag holds two. How many bags does she fill?",
        solution="Apples in bags: <<8/2=4>>4",
        answer="4",
    )
    proposal = GOOD | {"text": "8 apples", "number": "8"}
    (quantity,) = find_quantities([bags], [response(json.dumps([proposal]))]).rows
    image = replace(planned()[0], variant="another number", count=5)
    made = to_items({"p": bags}, {"p/1": quantity}, [image], {})
    assert made.rows == []
    assert "with 5 the calculations give no whole number" in made.rejections[0].reason


@pytest.mark.parametrize(
    ("sentence", "solution", "answer", "gold"),
    [
        pytest.param("1 is eaten.", "Apples eaten: <<3-1=2>>2", "2", "", id="one less than none"),
        pytest.param(
            "Each is on 8 plates, 1 is eaten.",
            "Apples on plates: <<3/8=0.375>>0.375\nEaten: <<0.375+1=1.375>>1.375",
            "1.375",
            "; 1",
            id="a whole",
        ),
        pytest.param(
            "And 1.5 of weight.",
            "Apples and weight: <<3+1.5=4.5>>4.5",
            "4.5",
            "",
            id="no whole number",
        ),
    ],
)
def test_where_nothing_is_seen_no_number_below_zero_is_expected(sentence, solution, answer, gold):
    question = f"Ann has three apples. {sentence} How many?"
    eaten = replace(PROBLEM, question=question, solution=solution, answer=answer)
    (quantity,) = find_quantities([eaten], [response(json.dumps([GOOD]))]).rows
    absent = plan_images([quantity], {})[-1]
    (item,) = to_items({"p": eaten}, {"p/1": quantity}, [absent], {}).rows
    assert item.answer == f"there are no apples; there are not any apples{gold}"
