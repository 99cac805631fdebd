import csv
import json

import pytest

from bench_assets.suites.journeybench.mcot.dataset import read_mcot, to_questions
from tests.fakes.rows import stored

ROW = {
    "index": "7",
    "url": "https://host/a.png",
    "": "",
    "question": "Each of the cups in the image holds 3 spoons. How many spoons?",
    "prompt": "four cups",
    "answer": "12",
    "category": "common objects;",
    "solution": "4*3=12",
    "image": "",
}
IMAGES = {name: stored(name) for name in ("https://host/a.png", "https://host/b.png")}


def write_jsonl(folder, *rows):
    file = folder / "mcot.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_json_lines_and_csv_are_read_alike(tmp_path):
    with (tmp_path / "mcot.csv").open("w", newline="") as lines:
        writer = csv.DictWriter(lines, ROW)
        writer.writeheader()
        writer.writerow(ROW)
    (item,) = read_mcot(tmp_path / "mcot.csv").require()
    assert read_mcot(write_jsonl(tmp_path, ROW)).require() == [item]


def test_rows_with_the_same_question_are_one_group(tmp_path):
    rows = [
        ROW,
        ROW | {"index": "9", "url": "https://host/b.png", "answer": "no cups exist; 0"},
        ROW | {"index": "11", "question": "How many?"},
    ]
    table = to_questions(read_mcot(write_jsonl(tmp_path, *rows)).require(), IMAGES)
    first, second, unrelated = table.rows
    assert first.group_id == second.group_id != unrelated.group_id


def test_a_row_becomes_a_question_with_its_answers_and_labels(tmp_path):
    rows = read_mcot(write_jsonl(tmp_path, ROW | {"answer": "no cups exist; 0"})).require()
    (question,) = to_questions(rows, IMAGES).rows
    assert question.question_id == "journeybench/mcot/7"
    assert question.answer == ("no cups exist", "0")
    assert question.category == "common objects"
    assert question.labels["solution"] == "4*3=12"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        pytest.param({"index": "8", "question": " "}, "question is empty", id="no question"),
        pytest.param({"index": "8", "answer": ";"}, "answer is empty", id="no answer"),
        pytest.param({"index": "8", "url": "x"}, "image 'x' is missing", id="no image"),
    ],
)
def test_an_incomplete_row_is_rejected_with_the_reason(tmp_path, change, reason):
    table = to_questions(read_mcot(write_jsonl(tmp_path, ROW, ROW | change)).require(), IMAGES)
    assert len(table.rows) == 1
    (rejection,) = table.rejections
    assert reason in rejection.reason


@pytest.mark.parametrize(
    ("answer", "flag"),
    [
        pytest.param("no common objects exist; 0", "", id="a text that contains a label"),
        pytest.param(
            "Hallucination", "the answer 'Hallucination' is the name of a label", id="a label"
        ),
        pytest.param(
            "0; common objects.",
            "the answer 'common objects.' is the name of a label",
            id="one of two answers",
        ),
    ],
)
def test_an_answer_that_is_the_name_of_a_label_is_flagged(tmp_path, answer, flag):
    items = read_mcot(write_jsonl(tmp_path, ROW | {"answer": answer})).require()
    (question,) = to_questions(items, IMAGES).rows
    assert question.labels["flag"] == flag
