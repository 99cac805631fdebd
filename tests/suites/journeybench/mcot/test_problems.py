import json

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.journeybench.mcot.problems import read_problems


def write_problem(folder, question, answer):
    file = folder / "gsm8k.jsonl"
    file.write_text(json.dumps({"question": question, "answer": answer}))
    return file


def test_the_last_line_of_the_solution_is_the_answer(tmp_path):
    file = write_problem(tmp_path, "How many?", "<<600*2=1200>>1200\n#### 1,200")
    (problem,) = read_problems(file).require()
    assert (problem.solution, problem.answer) == ("<<600*2=1200>>1200", "1,200")


def test_another_question_has_another_id(tmp_path):
    (first,) = read_problems(write_problem(tmp_path, "How many?", "#### 1")).require()
    (second,) = read_problems(write_problem(tmp_path, "How much?", "#### 1")).require()
    assert first.problem_id != second.problem_id


@pytest.mark.parametrize("answer", ["12", "#### ", "#### a dozen"])
def test_an_answer_without_a_result_is_an_error(tmp_path, answer):
    with pytest.raises(SourceError, match=r"line 1: the answer does not end in '#### '"):
        read_problems(write_problem(tmp_path, "How many?", answer)).require()
