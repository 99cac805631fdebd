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
from tests.audit.memory_evidence import TASK
from tests.cases import read_rows
from tests.fakes.rows import question

LISTING_TASK = replace(
    TASK,
    conditions={
        "main": Condition(
            prompt=lambda q: Prompt.of(f"{q.text}\n{lettered(q.options)}"), about="As it is."
        )
    },
)


def choice_question(*options: str, key: str = "A", **fields: object):
    return question(kind="choice", options=options, answer=(key,), **fields)


def test_options_move_by_one_place_and_the_key_moves_along():
    query = choice_question("red", "blue", "green", key="B")
    ordered = permute_options(LISTING_TASK, [query]).ordered
    assert [(o.number, o.question.options, o.question.answer, o.places) for o in ordered] == [
        (1, ("red", "blue", "green"), ("B",), (0, 1, 2)),
        (2, ("blue", "green", "red"), ("A",), (1, 2, 0)),
        (3, ("green", "red", "blue"), ("C",), (2, 0, 1)),
    ]
    assert [o.question.question_id for o in ordered] == ["t/1", "t/1, order 2", "t/1, order 3"]


def test_two_orders_are_the_published_one_and_one_drawn_by_the_seed():
    questions = [choice_question(*"wxyz", question_id=str(n)) for n in range(60)]
    ordered = permute_options(LISTING_TASK, questions, orders=2, seed=1).ordered
    assert [order.number for order in ordered] == [1, 2] * 60
    first_options = {order.places[0] for order in ordered if order.number == 2}
    assert first_options == {1, 2, 3}
    assert ordered == permute_options(LISTING_TASK, questions, orders=2, seed=1).ordered
    assert ordered != permute_options(LISTING_TASK, questions, orders=2, seed=2).ordered


def test_a_question_has_no_more_orders_than_options():
    ordered = permute_options(LISTING_TASK, [choice_question(*"wxyz")], orders=9).ordered
    assert [order.number for order in ordered] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("reason_constant", "kind", "options", "key"),
    read_rows(__file__, "left_alone.jsonl", tuples=True),
)
def test_options_that_depend_on_their_order_keep_it(reason_constant, kind, options, key):
    query = question(kind=kind, options=options, answer=(key,))
    assert not_permutable_reason(query) == getattr(option_permutations, reason_constant, "")


def test_a_prompt_that_does_not_list_the_options_is_left_out_and_counted():
    assert permute_options(TASK, [choice_question("red", "blue")]).left_out == {NOT_LISTED: 1}


PROMPT_CASES = [
    (
        BLINK,
        choice_question(
            "cat",
            "catfish",
            images=("0",),
            context="Which is it?\nSelect from the following choices.\n(A) cat\n(B) catfish\n",
        ),
        "(A) catfish\n(B) cat\n",
    ),
    (BLINK, choice_question("cat", "dog", images=("0",)), "(A) dog\n(B) cat"),
    (
        MULTI,
        choice_question(
            "1.5 km (快)", "2 km", category="SA", text="A、B两地相距[MASK]\nA. 1.5 km (快)\nB. 2 km"
        ),
        "A、B两地相距[MASK]\nA. 2 km\nB. 1.5 km (快)\n",
    ),
    (COGBENCH, choice_question("In love.", "Tired."), "A. Tired.\nB. In love.\n"),
]


@pytest.mark.parametrize(
    ("task", "query", "expected_text"),
    PROMPT_CASES,
    ids=["blink, released", "blink", "multi", "cogbench"],
)
def test_prompts_of_the_suites_list_the_options_in_the_new_order(task, query, expected_text):
    first, second = permute_options(task, [query]).ordered
    assert first.question == query
    prompt = task.condition("main").prompt(second.question)
    texts = [part for part in prompt.turns[-1].parts if isinstance(part, str)]
    assert expected_text in "".join(texts)


def figures_by_name(outcomes):
    """The figures of outcomes by question, each question a cluster of its own."""
    clusters = {question_id: question_id for question_id in outcomes}
    figures = figures_of(outcomes, clusters, partial(OrderFigure, task="exam", model="m"))
    return {figure.figure: figure for figure in figures}


def outcomes_of_always_a(n=40, n_options=4):
    """A model that says A to all shifts of the options; the key of question n is option n % 4."""
    outcomes = {}
    for number in range(n):
        shifts = [
            tuple((place + shift) % n_options for place in range(n_options))
            for shift in range(n_options)
        ]
        outcomes[str(number)] = [
            PermutationOutcome(
                number=order, places=places, share=float(places[0] == number % n_options), place=0
            )
            for order, places in enumerate(shifts, 1)
        ]
    return outcomes


def test_a_model_that_always_says_a_is_right_in_one_of_four_orders():
    figures = figures_by_name(outcomes_of_always_a())
    assert {name: figure.value for name, figure in figures.items()} == pytest.approx(
        {
            **dict.fromkeys(("order_1", "order_2", "order_3", "order_4", "all_orders"), 0.25),
            **{"circular": 0, "consistent": 0, "published_order_gains": 0},
            **{"letter_A": 1, "letter_B": 0, "letter_C": 0, "letter_D": 0},
        }
    )
    assert figures["consistent"].expected == pytest.approx(1 / 64)  # one of four, three times
    assert figures["letter_A"].expected == pytest.approx(1 / 4)
    assert figures["letter_A"].p < 1e-6
    assert {figure.n for figure in figures.values()} == {40}


def test_letters_are_expected_from_the_places_of_the_chosen_options_in_all_orders():
    """Shown the orders (0, 1, 2) and (1, 2, 0), the model says A twice: options 0 and 1.

    Option 0 stands at A and at C, option 1 at B and at A: A is expected for 2 of 4.
    """
    outcomes = [
        PermutationOutcome(number=1, places=(0, 1, 2), share=1.0, place=0),
        PermutationOutcome(number=2, places=(1, 2, 0), share=0.0, place=0),
    ]
    figures = figures_by_name({"1": outcomes})
    expected = {name: figures[name].expected for name in ("letter_A", "letter_B", "letter_C")}
    assert expected == pytest.approx({"letter_A": 0.5, "letter_B": 0.25, "letter_C": 0.25})
    assert figures["letter_A"].value == pytest.approx(1.0)
    assert figures["letter_A"].p == 1  # one question is no evidence


def test_the_p_value_is_that_of_the_paired_test_also_if_the_interval_ends_at_one():
    """Two of four questions gain a point: 0.5 / 0.289 = 1.73, with three degrees of freedom."""
    gain = [
        PermutationOutcome(number=1, places=(0, 1), share=1.0, place=0),
        PermutationOutcome(number=2, places=(1, 0), share=0.0, place=0),
    ]
    no_gain = [
        PermutationOutcome(number=1, places=(0, 1), share=1.0, place=0),
        PermutationOutcome(number=2, places=(1, 0), share=1.0, place=1),
    ]
    figures = figures_by_name({"a": gain, "b": gain, "c": no_gain, "d": no_gain})
    gains = figures["published_order_gains"]
    assert (gains.value, gains.high) == (0.5, 1.0)
    assert gains.p == pytest.approx(0.1817, abs=1e-4)


def test_without_scores_there_are_no_figures():
    rows = [
        PermutationOutcome(number=1, places=(0, 1), share=None, place=None),
        PermutationOutcome(number=2, places=(1, 0), share=None, place=None),
    ]
    assert figures_by_name({"1": rows}) == {}
