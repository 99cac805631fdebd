from fractions import Fraction

import pytest

from bench_assets.suites.journeybench.mcot.problems import Problem
from bench_assets.suites.journeybench.mcot.recalculation import (
    Solution,
    is_proven,
    solve,
    stated_numbers,
)
from tests.cases import read_cases

APPLES = Problem(
    problem_id="apples",
    question="Ann has 5 apples. She buys twice as many, and each costs 3 dollars. What is paid?",
    solution="She buys 5*2=<<5*2=10>>10 apples.\nThey cost 10*3=<<10*3=30>>30 dollars.",
    answer="30",
)


def problem(question, solution, answer):
    return Problem(problem_id="p", question=question, solution=solution, answer=answer)


@pytest.mark.parametrize(
    ("replacements", "solution"),
    [
        pytest.param({}, Solution("5*2 = 10\n10*3 = 30", Fraction(30)), id="as written"),
        pytest.param({5: 7}, Solution("7*2 = 14\n14*3 = 42", Fraction(42)), id="another number"),
        pytest.param({5: 0}, Solution("0*2 = 0\n0*3 = 0", Fraction(0)), id="no apples"),
        pytest.param({5: 7, 3: 4}, Solution("7*2 = 14\n14*4 = 56", Fraction(56)), id="two numbers"),
        pytest.param({8: 9}, None, id="a number that no calculation uses"),
    ],
)
def test_a_problem_is_solved_again(replacements, solution):
    assert solve(APPLES, replacements) == solution


@pytest.mark.parametrize(
    ("question", "steps", "answer"), read_cases(__file__, "unsolved_problems.jsonl")
)
def test_a_problem_whose_calculations_do_not_hold_is_not_solved(question, steps, answer):
    assert solve(problem(question, steps, answer), {4: 7}) is None


def test_a_calculation_below_zero_is_not_solved():
    sold = problem("Ann has 9 pies, sells 6 and buys 20.", "<<9-6=3>>3, <<3+20=23>>23", "23")
    assert solve(sold, {9: 4}) is None
    solution = solve(sold, {9: 11})
    assert solution is not None
    assert solution.answer == 25


def test_stated_numbers_include_words_and_ordinals():
    text = "Three of a dozen pies, two hundred and five at $1,200.50, a third in 4th place"
    assert stated_numbers(text) == [3, 12, 205, Fraction("1200.5"), 3, 4]


@pytest.mark.parametrize(
    ("question", "steps", "new_number", "proven"), read_cases(__file__, "proven_counts.jsonl")
)
def test_the_form_proves_a_count_where_nothing_is_left_over(question, steps, new_number, proven):
    _, _, answer = steps.rpartition(">>")
    assert is_proven(problem(question, steps, answer), {6: new_number}) == proven


def test_a_replacement_of_one_or_two_is_never_proven():
    cats_and_dogs = problem("Ann has 2 cats, Bo 9 dogs.", "<<2+9=11>>11", "11")
    solution = solve(cats_and_dogs, {2: 4})
    assert solution is not None
    assert solution.answer == 13
    assert not is_proven(cats_and_dogs, {2: 4})
