from bench_assets.defs.checks.table_checks import question_problems
from bench_assets.suites.blink.dataset import (
    PERCEPTION_TASKS,
    from_key,
    hidden_split,
    name_edition,
    read_items,
    scorable,
    several_images,
    statistics,
    to_question,
)
from bench_assets.suites.blink.task import TASK
from tests.rows import question
from tests.suites.blink.release import row, write_parquet


def test_a_row_becomes_a_question_that_can_be_scored_without_its_source(tmp_path):
    write_parquet(tmp_path, "Relative_Depth", "val", [row("val_Relative_Depth_7")])
    (item,) = read_items(tmp_path, [])
    made = to_question(item, ["a" * 64])
    assert made.question_id == "blink/val_Relative_Depth_7"
    assert (made.answer, made.options) == (("B",), ("A is closer", "B is closer"))
    assert (made.category, made.images) == ("Relative_Depth", ("a" * 64,))
    assert made.context == item.prompt  # asked word for word
    assert made.labels == {"split": "val", "sub_task": "Relative_Depth"}


def test_an_explanation_is_kept_where_there_is_one(tmp_path):
    why = row("val_Relative_Depth_1", explanation="It is in front.")
    write_parquet(tmp_path, "Relative_Depth", "val", [why])
    (item,) = read_items(tmp_path, [])
    assert to_question(item, []).labels["explanation"] == "It is in front."


def test_the_hidden_split_is_asked_and_not_scored(tmp_path):
    write_parquet(tmp_path, "Relative_Depth", "val", [row("val_Relative_Depth_1")])
    hidden = row("test_Relative_Depth_1", answer="hidden")
    write_parquet(tmp_path, "Relative_Depth", "test", [hidden])
    items = [to_question(item, ["a" * 64]) for item in read_items(tmp_path, [])]
    assert [one.question_id for one in scorable(items)] == ["blink/val_Relative_Depth_1"]
    (asked,) = hidden_split(items)
    assert (asked.question_id, asked.answer) == ("blink/test_Relative_Depth_1", ())


def test_known_answers_of_a_test_split_are_hidden_in_the_submission():
    built = question(answer=("A",), labels={"split": "test"})
    assert [one.answer for one in hidden_split([built])] == [()]
    assert scorable([built]) == [built]


def test_an_answer_key_alone_makes_well_formed_questions_of_all_tasks():
    key = {f"val_{name}_1": "A" for name in PERCEPTION_TASKS}
    made = from_key(key)
    assert question_problems(made) == []
    assert [one.category for one in made] == list(PERCEPTION_TASKS)
    assert [len(one.options) for one in made if one.category == "Relative_Reflectance"] == [3]


def test_only_the_whole_validation_split_is_called_published():
    key = {
        f"val_{task.name}_{n}": "A"
        for task in PERCEPTION_TASKS.values()
        for n in range(1, task.val + 1)
    }
    assert {one.edition for one in name_edition(from_key(key))} == {"published"}
    key.pop("val_Jigsaw_7")
    assert {one.edition for one in name_edition(from_key(key))} == {"own"}


def test_tables_1_and_3_follow_from_the_tasks():
    items = [
        question(
            question_id=f"{split}/{task.name}/{n}",
            category=task.name,
            labels={"split": split} | ({"explanation": "so"} if task.name == "IQ_Test" else {}),
        )
        for task in PERCEPTION_TASKS.values()
        for split, count in (("val", task.val), ("test", task.test))
        for n in range(count)
    ]
    counted = statistics(items)
    assert len(counted) == 11
    assert [(one.statistic, one.n) for one in counted] == [
        (one.statistic, one.paper) for one in counted
    ]
    assert TASK.counts["all"] == 1901


def test_eight_tasks_have_several_images():
    one_each = [question(category=name) for name in PERCEPTION_TASKS]
    assert len(several_images(one_each)) == 8  # appendix C.1
