import re
from collections import Counter

import pyarrow as pa
import pytest

from bench_assets.core.schema.errors import ImageError, SourceError
from bench_assets.core.schema.rows import Rejection
from bench_assets.defs.checks.table_checks import question_problems
from bench_assets.suites.blink.dataset import (
    KEY,
    PERCEPTION_TASKS,
    absent_tasks,
    find_route,
    hidden_split,
    name_edition,
    questions_from_key,
    read_items,
    read_key,
    scorable,
    several_images,
    to_question,
)
from bench_assets.suites.blink.task import TASK
from tests.cases import read_cases
from tests.fakes.blink_release import JIGSAW, row, write_parquet
from tests.fakes.rows import question


def read_release(folder):
    """The items of a release, and a line for each rejection."""
    table = read_items(folder, lambda item: item)
    return table.rows, [f"{rejection.entry}: {rejection.reason}" for rejection in table.rejections]


def test_a_release_is_read_task_by_task_with_its_images_unchanged(tmp_path):
    write_parquet(
        tmp_path, "Jigsaw", "test", [row("test_Jigsaw_1", **JIGSAW | {"answer": "hidden"})]
    )
    write_parquet(tmp_path, "Jigsaw", "val", [row("val_Jigsaw_1", **JIGSAW)])
    write_parquet(tmp_path, "Relative_Depth", "val", [row("val_Relative_Depth_1")])
    (depth, jigsaw, hidden), _ = read_release(tmp_path)
    assert (depth.idx, jigsaw.idx, hidden.idx) == (
        "val_Relative_Depth_1",
        "val_Jigsaw_1",
        "test_Jigsaw_1",
    )
    assert jigsaw.images == tuple(JIGSAW[f"image_{n}"]["bytes"] for n in (1, 2, 3))
    assert (jigsaw.letter, jigsaw.split, jigsaw.task.name) == ("A", "val", "Jigsaw")
    assert (hidden.letter, hidden.split) == ("", "test")
    assert depth.prompt.endswith("(val_Relative_Depth_1)\n(A) A is closer")


@pytest.mark.parametrize(
    ("fields", "expected_message"), read_cases(__file__, "rejected_rows.jsonl")
)
def test_a_row_that_cannot_be_right_is_rejected_by_file_and_row(tmp_path, fields, expected_message):
    rows = [row(f"val_Relative_Depth_{number}") for number in (1, 2, 3)]
    rows[1] |= fields
    file = write_parquet(tmp_path, "Relative_Depth", "val", rows)
    items, (reason,) = read_release(tmp_path)
    assert [item.idx for item in items] == ["val_Relative_Depth_1", "val_Relative_Depth_3"]
    assert re.search(expected_message, reason)
    assert re.match(rf"{file.name}, row 2\b", reason)


def test_a_parquet_file_of_something_else_is_refused_by_its_columns(tmp_path):
    schema = pa.schema([("idx", pa.string())])
    write_parquet(tmp_path, "Jigsaw", "val", [{"idx": "val_Jigsaw_1"}], schema)
    with pytest.raises(SourceError, match="no column question, prompt"):
        read_release(tmp_path)


def test_half_a_parquet_file_is_refused(tmp_path):
    file = write_parquet(tmp_path, "Relative_Depth", "val", [row("val_Relative_Depth_1")])
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(SourceError, match="cut short"):
        read_release(tmp_path)


def make_id(item):
    if item.idx.endswith("2"):
        raise ImageError("does not decode")
    return item.idx


def test_an_item_of_which_no_row_can_be_made_is_rejected(tmp_path):
    rows = [row(f"val_Relative_Depth_{n}") for n in (1, 2, 3)]
    write_parquet(tmp_path, "Relative_Depth", "val", rows)
    table = read_items(tmp_path, make_id)
    assert table.rows == ["val_Relative_Depth_1", "val_Relative_Depth_3"]
    assert table.rejections == [Rejection(entry="val_Relative_Depth_2", reason="does not decode")]


def test_the_second_of_two_rows_of_one_question_is_rejected(tmp_path):
    file = write_parquet(tmp_path, "Relative_Depth", "val", [row("val_Relative_Depth_1")])
    file.with_name("val-00000-of-00002.parquet").write_bytes(file.read_bytes())
    items, (reason,) = read_release(tmp_path)
    assert len(items) == 1
    assert re.search(r"00002\.parquet, row 1 .*00001\.parquet, row 1 .*keep one", reason)


def test_tasks_that_a_release_lacks_are_named(tmp_path):
    write_parquet(tmp_path, "Relative_Depth", "val", [row("val_Relative_Depth_1")])
    write_parquet(tmp_path, "Jigsaw", "test", [row("test_Jigsaw_1")])
    assert set(absent_tasks(tmp_path)) == set(PERCEPTION_TASKS) - {"Relative_Depth"}


def test_the_route_follows_from_what_is_in_the_folder(tmp_path):
    assert find_route(tmp_path) == "raw"
    (tmp_path / KEY).write_text("{}")
    assert find_route(tmp_path) == "key"
    write_parquet(tmp_path, "Jigsaw", "val", [])
    assert find_route(tmp_path) == "release"


@pytest.mark.parametrize(
    ("field", "expected_reason"),
    [
        pytest.param('"val_Jigsaw_1": "(C)"', "answer is '(C)'", id="an option too many"),
        pytest.param('"val_Chess_1": "(A)"', "not an id", id="an unknown task"),
        pytest.param('"test_Jigsaw_1": "hidden"', "not an id", id="hidden"),
        pytest.param('"val_Jigsaw_1": 1', "answer is 1", id="a number"),
    ],
)
def test_an_answer_that_cannot_be_right_is_rejected(tmp_path, field, expected_reason):
    file = tmp_path / KEY
    file.write_text(f'{{{field}, "val_IQ_Test_1": "(D)"}}')
    key = read_key(file)
    assert key.rows == [("val_IQ_Test_1", "D")]
    (rejection,) = key.rejections
    assert expected_reason in rejection.reason


@pytest.mark.parametrize(
    ("content", "expected_message"),
    [
        pytest.param('["(A)"]', "expected an object", id="a list"),
        pytest.param('{"val_Jigsaw_1', "not JSON, or cut short", id="half a file"),
    ],
)
def test_a_file_that_is_no_answer_key_is_an_error(tmp_path, content, expected_message):
    file = tmp_path / KEY
    file.write_text(content)
    with pytest.raises(SourceError, match=expected_message):
        read_key(file)


def test_an_explanation_is_a_label_of_its_question(tmp_path):
    explained = row("val_Relative_Depth_1", explanation="It is in front.")
    write_parquet(tmp_path, "Relative_Depth", "val", [explained])
    (item,), _ = read_release(tmp_path)
    assert to_question(item, ["a" * 64]).labels["explanation"] == "It is in front."


def test_the_hidden_split_has_questions_and_no_answers(tmp_path):
    write_parquet(tmp_path, "Relative_Depth", "val", [row("val_Relative_Depth_1")])
    hidden = row("test_Relative_Depth_1", answer="hidden")
    write_parquet(tmp_path, "Relative_Depth", "test", [hidden])
    items, _ = read_release(tmp_path)
    questions = [to_question(item, ["a" * 64]) for item in items]
    (validation_question,) = scorable(questions)
    assert validation_question.question_id == "blink/val_Relative_Depth_1"
    (test_question,) = hidden_split(questions)
    assert test_question.question_id == "blink/test_Relative_Depth_1"
    assert test_question.answer == ()


def test_an_answer_key_alone_makes_well_formed_questions_of_all_tasks():
    key = {f"val_{name}_1": "A" for name in PERCEPTION_TASKS}
    questions = {question.category: question for question in questions_from_key(key)}
    assert question_problems(list(questions.values())) == []
    assert list(questions) == list(PERCEPTION_TASKS)
    assert len(questions["Relative_Reflectance"].options) == 3


def test_only_the_whole_validation_split_is_called_published():
    key = {
        f"val_{task.name}_{n}": "A"
        for task in PERCEPTION_TASKS.values()
        for n in range(1, task.val + 1)
    }
    assert {question.edition for question in name_edition(questions_from_key(key))} == {"published"}
    key.pop("val_Jigsaw_7")
    assert {question.edition for question in name_edition(questions_from_key(key))} == {"own"}


def test_table_1_follows_from_the_tasks():
    tasks = PERCEPTION_TASKS.values()
    assert sum(task.val for task in tasks) == TASK.counts["all"] == 1901
    assert sum(task.test for task in tasks) == 1906


def test_table_3_follows_from_the_tasks():
    n_questions = Counter[int]()
    for task in PERCEPTION_TASKS.values():
        n_questions[task.images] += task.val + task.test
    del n_questions[1]  # not printed
    assert n_questions == {2: 1149, 3: 805, 4: 264}
    n_images = sum(task.images * (task.val + task.test) for task in PERCEPTION_TASKS.values())
    assert n_images == 7358


def test_appendix_c1_has_eight_tasks_with_several_images():
    assert len(several_images([question(category=name) for name in PERCEPTION_TASKS])) == 8
