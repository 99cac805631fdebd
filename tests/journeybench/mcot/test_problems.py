"""Problems of GSM8K are solved again with other numbers, or not at all."""

import json

import pytest

from bench_assets.core.errors import SourceError
from bench_assets.journeybench.mcot.problems import Problem, Solution, read_problems, solve

APPLES = Problem(
    problem_id="apples",
    question="Ann has 5 apples. She buys twice as many, and each costs 3 dollars. What is paid?",
    solution="She buys 5*2=<<5*2=10>>10 apples.\nThey cost 10*3=<<10*3=30>>30 dollars.",
    answer="30",
)


def problem(question, solution, answer):
    return Problem(problem_id="p", question=question, solution=solution, answer=answer)


@pytest.mark.parametrize(
    ("instead", "solution"),
    [
        pytest.param({}, Solution("5*2 = 10\n10*3 = 30", 30.0), id="as written"),
        pytest.param({5: 7}, Solution("7*2 = 14\n14*3 = 42", 42.0), id="another number of apples"),
        pytest.param({5: 0}, Solution("0*2 = 0\n0*3 = 0", 0.0), id="no apples"),
        pytest.param({5: 7, 3: 4}, Solution("7*2 = 14\n14*4 = 56", 56.0), id="two other numbers"),
        pytest.param({8: 9}, None, id="a number that no calculation uses"),
        pytest.param({10: 9}, None, id="a result, which is no number of the text"),
    ],
)
def test_a_problem_is_solved_again(instead, solution):
    assert solve(APPLES, instead) == solution


@pytest.mark.parametrize(
    ("question", "steps", "answer"),
    [
        pytest.param(
            "4 boys have 2 balls each, 8 girls none. Balls and girls?",
            "<<4*2=8>>8, <<8+8=16>>16",
            "16",
            id="a result that is a number of the text as well",
        ),
        pytest.param("4 and 2?", "<<4*2=8>>8", "9", id="calculations that miss the answer"),
        pytest.param("4 and 2?", "4*2=8", "8", id="no calculations in brackets"),
        pytest.param("4 and 2?", "<<4**2=16>>16", "16", id="more than sums and products"),
        pytest.param("4 and 2?", "<<__import__=16>>16", "16", id="something that is no number"),
        pytest.param("4 and 2?", "<<4*=8>>8", "8", id="a broken calculation"),
    ],
)
def test_what_cannot_be_told_is_not_solved(question, steps, answer):
    assert solve(problem(question, steps, answer), {4: 4}) is None


def test_nothing_is_divided_by_what_is_not_there():
    shared = problem("12 cakes for 4 people?", "<<12/4=3>>3", "3")
    assert solve(shared, {4: 0}) is None
    assert solve(shared, {4: 5}) == Solution("12/5 = 2.4", 2.4)


def write(folder, question, answer):
    file = folder / "gsm8k.jsonl"
    file.write_text(json.dumps({"question": question, "answer": answer}))
    return file


def test_the_final_line_is_the_answer_and_the_text_makes_the_id(tmp_path):
    (read,) = read_problems(write(tmp_path, "How many?", "<<600*2=1200>>1200\n#### 1,200"))
    assert (read.solution, read.answer) == ("<<600*2=1200>>1200", "1,200")
    (other,) = read_problems(write(tmp_path, "How much?", "#### 1"))
    assert read.problem_id != other.problem_id


@pytest.mark.parametrize("answer", ["12", "#### ", "#### a dozen"])
def test_an_answer_without_a_result_is_an_error(tmp_path, answer):
    with pytest.raises(SourceError, match=r"line 1: the answer does not end in '#### '"):
        read_problems(write(tmp_path, "How many?", answer))
