"""Problems are read in the layout of GSM8K."""

import json

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.journeybench.mcot.problems import read_problems


def write(folder, question, answer):
    file = folder / "gsm8k.jsonl"
    file.write_text(json.dumps({"question": question, "answer": answer}))
    return file


def test_the_final_line_is_the_answer_and_the_text_makes_the_id(tmp_path):
    (read,) = read_problems(
        write(tmp_path, "How many?", "<<600*2=1200>>1200\n#### 1,200")
    ).require()
    assert (read.solution, read.answer) == ("<<600*2=1200>>1200", "1,200")
    (other,) = read_problems(write(tmp_path, "How much?", "#### 1")).require()
    assert read.problem_id != other.problem_id


@pytest.mark.parametrize("answer", ["12", "#### ", "#### a dozen"])
def test_an_answer_without_a_result_is_an_error(tmp_path, answer):
    with pytest.raises(SourceError, match=r"line 1: the answer does not end in '#### '"):
        read_problems(write(tmp_path, "How many?", answer)).require()
