"""Other numbers are proposed with the answer that the calculations give."""

from dataclasses import replace

import pytest

from bench_assets.core.schema.chat import Response
from bench_assets.suites.journeybench.mcot.number_proposals import (
    NUMBERS,
    accepted_numbers,
    number_candidates,
)
from bench_assets.suites.journeybench.mcot.problems import Problem
from bench_assets.suites.journeybench.mcot.quantities import Quantity

PROBLEM = Problem(
    problem_id="p",
    question="Ann has 3 apples and 5 pies. Each apple weighs 100 grams, each pie 200. What weight?",
    solution="The apples: <<3*100=300>>300 grams\nThe pies: <<5*200=1000>>1000\n"
    "<<300+1000=1300>>1300",
    answer="1300",
)


def quantity(text, number, things):
    return Quantity(
        quantity_id=f"p/{number}",
        problem_id="p",
        text=text,
        number=number,
        things=things,
        image_prompt=f"exactly {{count}} of: {things}",
        writer="w",
        prompt_sha256="sha",
    )


APPLES, PIES = quantity("3 apples", 3, "apples"), quantity("5 pies", 5, "pies")


def test_the_first_quantity_and_the_first_two_get_three_candidates_each():
    singles, pairs = number_candidates([PROBLEM], [APPLES, PIES])
    assert [len(singles), len(pairs)] == [3, 3]
    for one in singles:
        number = int(one.id.removeprefix("p/3/"))
        assert one.key == str(number * 100 + 1000)
        assert one.question.startswith("Ann has the apples in the image and 5 pies.")
        assert one.shows.startswith(f"exactly {number} of: apples, and exactly")
        assert one.before == PROBLEM.question
    for one in pairs:
        apples, pies = map(int, one.id.removeprefix("p-pair/").split("-"))
        assert one.key == str(apples * 100 + pies * 200)
        assert one.shows == (
            f"first picture: exactly {apples} of: apples; second picture: exactly {pies} of: pies"
        )


def test_what_the_form_proves_comes_first():
    (tried, *_) = number_candidates([PROBLEM], [APPLES])
    forms = [one.form for one in tried]
    assert forms == sorted(forms, reverse=True)
    proven = {one.id for one in tried if one.form == "proven"}
    assert proven <= {"p/3/2", "p/3/4"}, "below the 5 pies, which is no proof for 6 and more"


def test_a_number_that_cannot_be_followed_is_not_proposed():
    halves = replace(
        PROBLEM,
        question="Tina knits 6 scarves in March, half as many in April. How many in all?",
        solution="In April she knits <<6/2=3>>3.\nIn all these are <<6+3=9>>9.",
        answer="9",
    )
    assert number_candidates([halves], [quantity("6 scarves", 6, "scarves")]) == [[]]


@pytest.mark.parametrize(
    ("solvers", "accepted"),
    [
        pytest.param((), True, id="the form alone"),
        pytest.param(("x", "y"), False, id="solvers that do not answer"),
    ],
)
def test_accepted_numbers_are_read_by_quantity(solvers, accepted):
    tried = number_candidates([PROBLEM], [APPLES])
    rows = NUMBERS.vote(
        tried, solvers, lambda _, prompts: [Response(error="down") for _ in prompts]
    )
    numbers = accepted_numbers(rows)
    assert numbers == ({"p/3": (int(tried[0][0].id[4:]),)} if accepted else {})
