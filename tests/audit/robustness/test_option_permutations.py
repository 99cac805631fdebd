"""Options in other orders: what is asked, what is left alone, and what is made of the responses."""

from dataclasses import replace
from functools import partial

import pytest

from bench_assets.audit.robustness import option_permutations
from bench_assets.audit.robustness.option_permutations import (
    NOT_LISTED,
    not_permutable_reason,
    permute_options,
)
from bench_assets.audit.robustness.position_bias import OrderFigure, PermutationOutcome, figures_of
from bench_assets.core.reading.choices import lettered
from bench_assets.core.schema.chat import Prompt
from bench_assets.evaluation.task import Condition
from bench_assets.suites.blink.task import TASK as BLINK
from bench_assets.suites.cogbench.vqa.task import TASK as COGBENCH
from bench_assets.suites.multi.task import TASK as MULTI
from tests.audit.held import TASK
from tests.cases import read_rows
from tests.fakes.rows import question

LISTED = replace(
    TASK,
    conditions={
        "main": Condition(
            prompt=lambda q: Prompt.of(f"{q.text}\n{lettered(q.options)}"), about="As it is."
        )
    },
)


def choice(*options: str, key: str = "A", **fields: object):
    return question(kind="choice", options=options, answer=(key,), **fields)


def test_options_move_by_one_place_and_the_key_moves_along():
    made = permute_options(LISTED, [choice("red", "blue", "green", key="B")]).ordered
    assert [(o.number, o.question.options, o.question.answer, o.places) for o in made] == [
        (1, ("red", "blue", "green"), ("B",), (0, 1, 2)),
        (2, ("blue", "green", "red"), ("A",), (1, 2, 0)),
        (3, ("green", "red", "blue"), ("C",), (2, 0, 1)),
    ]
    assert [o.question.question_id for o in made] == ["t/1", "t/1, order 2", "t/1, order 3"]


def test_fewer_orders_are_drawn_and_the_same_with_the_same_seed():
    questions = [choice(*"wxyz", question_id=str(n)) for n in range(60)]
    two = permute_options(LISTED, questions, orders=2, seed=1).ordered
    assert [o.number for o in two] == [1, 2] * 60
    assert {o.places[0] for o in two[1::2]} == {1, 2, 3}
    assert two == permute_options(LISTED, questions, orders=2, seed=1).ordered
    assert two != permute_options(LISTED, questions, orders=2, seed=2).ordered
    four = permute_options(LISTED, questions[:1], orders=9).ordered
    assert [order.number for order in four] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("reason", "kind", "options", "key"), read_rows(__file__, "left_alone.jsonl", tuples=True)
)
def test_options_that_do_not_stand_for_themselves_keep_their_order(reason, kind, options, key):
    query = question(kind=kind, options=options, answer=(key,))
    assert not_permutable_reason(query) == getattr(option_permutations, reason, "")


def test_a_prompt_that_does_not_list_the_options_is_left_out_and_counted():
    assert permute_options(TASK, [choice("red", "blue")]).left_out == {NOT_LISTED: 1}


WRITTEN = [
    (
        BLINK,
        choice(
            "cat",
            "catfish",
            images=("0",),
            context="Which is it?\nSelect from the following choices.\n(A) cat\n(B) catfish\n",
        ),
        "(A) catfish\n(B) cat\n",
    ),
    (BLINK, choice("cat", "dog", images=("0",)), "(A) dog\n(B) cat"),
    (
        MULTI,
        choice(
            "1.5 km (快)",
            "2 km",
            category="SA",
            text="A、B两地相距[MASK]\nA. 1.5 km (快)\nB. 2 km",
        ),
        "A、B两地相距[MASK]\nA. 2 km\nB. 1.5 km (快)\n",
    ),
    (COGBENCH, choice("In love.", "Tired."), "A. Tired.\nB. In love.\n"),
]


@pytest.mark.parametrize(
    ("task", "query", "shown"), WRITTEN, ids=["blink, released", "blink", "multi", "cogbench"]
)
def test_prompts_of_the_suites_show_the_order(task, query, shown):
    first, second = permute_options(task, [query]).ordered
    assert first.question == query
    prompt = task.condition("main").prompt(second.question)
    texts = [part for part in prompt.turns[-1].parts if isinstance(part, str)]
    assert shown in "".join(texts)


def figures(responses):
    made = figures_of(
        responses, {name: name for name in responses}, partial(OrderFigure, task="exam", model="m")
    )
    return {figure.figure: figure for figure in made}


def says_the_first(n=40, k=4):
    """Who says A to k options in all their shifts; the key is at the place n % k."""
    responses = {}
    for number in range(n):
        shifts = [tuple((place + shift) % k for place in range(k)) for shift in range(k)]
        responses[str(number)] = [
            PermutationOutcome(order, places, float(places[0] == number % k), 0)
            for order, places in enumerate(shifts, 1)
        ]
    return responses


def test_who_always_says_the_first_is_right_once_a_question():
    found = figures(says_the_first())
    values = {name: one.value for name, one in found.items()}
    assert values == pytest.approx(
        {
            **dict.fromkeys(("order_1", "order_2", "order_3", "order_4", "all_orders"), 0.25),
            **{"circular": 0, "consistent": 0, "published_order_gains": 0},
            **{"letter_A": 1, "letter_B": 0, "letter_C": 0, "letter_D": 0},
        }
    )
    assert found["consistent"].expected == pytest.approx(1 / 64)
    assert found["letter_A"].expected == pytest.approx(1 / 4)
    assert found["letter_A"].p < 1e-6
    assert {one.n for one in found.values()} == {40}


def test_of_two_orders_the_same_choices_are_expected_where_they_stand_in_either():
    """Shown (0, 1, 2) and (1, 2, 0), one says A and A: option 0, then option 1.

    Option 0 stands at A and at C, option 1 at B and at A: A is expected for 2 of 4.
    """
    rows = [PermutationOutcome(1, (0, 1, 2), 1.0, 0), PermutationOutcome(2, (1, 2, 0), 0.0, 0)]
    found = figures({"1": rows})
    expected = {name: one.expected for name, one in found.items() if name.startswith("letter")}
    assert expected == pytest.approx({"letter_A": 0.5, "letter_B": 0.25, "letter_C": 0.25})
    assert found["letter_A"].value == pytest.approx(1.0)
    assert found["letter_A"].p == 1  # of one question nothing is certain


def test_the_p_value_is_that_of_the_paired_test_where_the_interval_ends_at_one():
    """Two of four questions gain a point: 0.5 / 0.289 = 1.73, with three degrees of freedom."""
    gained = [PermutationOutcome(1, (0, 1), 1.0, 0), PermutationOutcome(2, (1, 0), 0.0, 0)]
    kept = [PermutationOutcome(1, (0, 1), 1.0, 0), PermutationOutcome(2, (1, 0), 1.0, 1)]
    found = figures({"a": gained, "b": gained, "c": kept, "d": kept})["published_order_gains"]
    assert (found.value, found.high) == (0.5, 1.0)
    assert found.p == pytest.approx(0.1817, abs=1e-4)


def test_without_scores_there_are_no_figures():
    rows = [PermutationOutcome(1, (0, 1), None, None), PermutationOutcome(2, (1, 0), None, None)]
    assert figures({"1": rows}) == {}
