"""What the checks between the tables find."""

import json

import dagster as dg
import pytest

from bench_assets.asset_factory.evaluation_assets import evaluation_assets
from bench_assets.defs.checks.evaluation_checks import missing_rows
from bench_assets.defs.checks.table_checks import question_problems, task_checks
from tests.fakes.quiz import TASK, questions_asset, quiz, resources_over
from tests.fakes.rows import prediction, question


@pytest.mark.parametrize(
    ("questions", "found"),
    [
        pytest.param([question()], [], id="a good question"),
        pytest.param(
            [question(), question()], ["t/1: 2 questions with this id"], id="one id twice"
        ),
        pytest.param([question(text=" ")], ["t/1: no text"], id="blank text"),
        pytest.param([question(answer=())], ["t/1: no answer"], id="no answer"),
        pytest.param([question(answer=("x", ""))], ["t/1: no answer"], id="an empty answer"),
        pytest.param(
            [question(kind="choice", options=("l", "r"), answer=("C",))],
            ["t/1: answer ('C',) is not among ['A', 'B']"],
            id="a letter that is not offered",
        ),
        pytest.param(
            [question(kind="choice", options=("l", "l", "r"), answer=("A",))],
            [],
            id="equal options, which are equally right",
        ),
        pytest.param(
            [question(kind="choice", options=("", "", ""), answer=("B",))],
            [],
            id="options in the picture only",
        ),
    ],
)
def test_problems_of_a_question_table(questions, found):
    assert question_problems(questions) == found


def test_lost_and_surplus_rows_are_named():
    questions = [question(question_id=f"t/{n}") for n in (1, 2, 3)]
    rows = [prediction(question_id=f"t/{n}") for n in (1, 2, 2, 4)]
    assert missing_rows(questions, rows, samples=1) == [
        "t/2: 2 rows instead of 1",
        "t/3: 0 rows instead of 1",
        "t/4: no such question",
    ]


# Checks that share an op: each says what it found, whatever others find, and may be run alone.


def together(check):
    return {key.name for key in check.check_keys}


def test_all_that_block_what_is_made_of_a_table_are_in_one_op():
    shared = {
        "/".join(key.asset_key.path): together(check)
        for check in task_checks(TASK)
        for key in check.check_keys
        if len(together(check)) > 1
    }
    assert shared == {
        "quiz/questions": {
            "well_formed",
            "images_decode",
            "counts_match_the_paper",
            "as_expected",
        },
        "quiz/predictions": {"every_question_answered", "one_model_answered"},
        "quiz/scores": {"no_row_lost", "few_unscored", "few_unread"},
    }


def run(home, selection=None):
    """Evaluate the quiz, of whose two questions one has a response.

    What was made, what was found.
    """
    (home / "said.jsonl").write_text(json.dumps({"question_id": "quiz/0", "text": "x"}))
    (home / "bench.toml").write_text('[models.m]\nkind = "recorded"\nfile = "said.jsonl"\n')
    checks = task_checks(TASK)
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("model", ["m"])
        result = dg.materialize(
            [questions_asset(quiz(2)), *evaluation_assets(TASK), *checks],
            selection=selection,
            partition_key="m",
            instance=instance,
            raise_on_error=False,
            resources=resources_over(home),
        )
    events = result.get_asset_materialization_events()
    made = {event.asset_key.to_user_string() for event in events if event.asset_key}
    found = {
        (one.asset_key.path[-1], one.check_name): (one.passed, one.partition)
        for one in result.get_asset_check_evaluations()
    }
    return made, found


def test_after_a_failed_check_the_others_still_report_and_nothing_is_scored(tmp_path):
    made, found = run(tmp_path)
    assert "quiz/scores" not in made
    assert {name: one for name, one in found.items() if name[0] == "predictions"} == {
        ("predictions", "every_question_answered"): (False, "m"),
        ("predictions", "one_model_answered"): (True, "m"),
    }
