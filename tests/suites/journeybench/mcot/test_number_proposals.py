from dataclasses import replace

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
    """A quantity of the problem, such as "3 apples", 3 and "apples"."""
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


def test_the_first_quantity_gets_three_candidates_with_recalculated_keys():
    singles, _ = number_candidates([PROBLEM], [APPLES, PIES])
    assert len(singles) == 3
    for candidate in singles:
        n_apples = int(candidate.id.removeprefix("p/3/"))
        assert candidate.key == str(n_apples * 100 + 1000)  # grams of the apples and of 5 pies
        assert candidate.question.startswith("Ann has the apples in the image and 5 pies.")
        assert candidate.shows.startswith(f"exactly {n_apples} of: apples, and exactly")
        assert candidate.before == PROBLEM.question


def test_two_quantities_get_three_candidates_with_two_images():
    _, pairs = number_candidates([PROBLEM], [APPLES, PIES])
    assert len(pairs) == 3
    for candidate in pairs:
        n_apples, n_pies = map(int, candidate.id.removeprefix("p-pair/").split("-"))
        assert candidate.key == str(n_apples * 100 + n_pies * 200)
        assert candidate.shows == (
            f"first picture: exactly {n_apples} of: apples; "
            f"second picture: exactly {n_pies} of: pies"
        )


def test_proven_candidates_come_first():
    candidates, *_ = number_candidates([PROBLEM], [APPLES])
    assert [candidate.form for candidate in candidates] == ["proven", "proven", "calculated"]
    # Numbers above the 5 pies are not proven.
    assert {candidate.id for candidate in candidates[:2]} == {"p/3/2", "p/3/4"}


def test_a_number_that_leaves_a_fraction_is_not_proposed():
    halves = replace(
        PROBLEM,
        question="Tina knits 6 scarves in March, half as many in April. How many in all?",
        solution="In April she knits <<6/2=3>>3.\nIn all these are <<6+3=9>>9.",
        answer="9",
    )
    assert number_candidates([halves], [quantity("6 scarves", 6, "scarves")]) == [[]]


def test_a_number_that_does_not_change_the_answer_is_not_proposed():
    empty_bags = replace(
        PROBLEM,
        question="Ann has 1,000 pies in a box, and 3 bags with 0 pies each. How many pies?",
        solution="In the bags: <<3*0=0>>0\nIn all: <<1000+0=1000>>1000",
        answer="1,000",
    )
    assert number_candidates([empty_bags], [quantity("3 bags", 3, "bags")]) == [[]]


def vote(groups, solvers):
    """Decide candidates with solvers none of which responds."""
    return NUMBERS.vote(
        groups, solvers, lambda _, prompts: [Response(error="down") for _ in prompts]
    )


def test_without_solvers_the_first_number_is_accepted():
    groups = number_candidates([PROBLEM], [APPLES])
    (first, *_), *_ = groups
    number = int(first.id.removeprefix("p/3/"))
    assert accepted_numbers(vote(groups, solvers=())) == {"p/3": (number,)}


def test_no_number_is_accepted_if_no_solver_responds():
    groups = number_candidates([PROBLEM], [APPLES])
    assert accepted_numbers(vote(groups, solvers=("x", "y"))) == {}
