import json

import dagster as dg
import pytest

from bench_assets.asset_factory.evaluation_assets import evaluation_assets
from bench_assets.defs.checks.evaluation_checks import missing_rows
from bench_assets.defs.checks.table_checks import question_problems, task_checks
from tests.fakes.quiz import TASK, questions_asset, quiz, resources_over
from tests.fakes.rows import prediction, question


@pytest.mark.parametrize(
    ("questions", "problems"),
    [
        pytest.param([question()], [], id="a valid question"),
        pytest.param(
            [question(), question()], ["t/1: 2 questions with this id"], id="one id twice"
        ),
        pytest.param([question(text=" ")], ["t/1: no text"], id="blank text"),
        pytest.param([question(answer=())], ["t/1: no answer"], id="no answer"),
        pytest.param([question(answer=("x", ""))], ["t/1: no answer"], id="an empty answer"),
        pytest.param(
            [question(kind="choice", options=("l", "r"), answer=("C",))],
            ["t/1: answer ('C',) is not among ['A', 'B']"],
            id="a letter without an option",
        ),
        pytest.param(
            [question(kind="choice", options=("l", "l", "r"), answer=("A",))],
            [],
            id="equal options, which are equally right",
        ),
        pytest.param(
            [question(kind="choice", options=("", "", ""), answer=("B",))],
            [],
            id="options in the image only",
        ),
    ],
)
def test_problems_of_questions_are_named(questions, problems):
    assert question_problems(questions) == problems


def test_missing_surplus_and_unknown_rows_are_named():
    questions = [question(question_id=f"t/{n}") for n in (1, 2, 3)]
    rows = [prediction(question_id=f"t/{n}") for n in (1, 2, 2, 4)]
    assert missing_rows(questions, rows, samples=1) == [
        "t/2: 2 rows instead of 1",
        "t/3: 0 rows instead of 1",
        "t/4: no such question",
    ]


def test_checks_of_one_table_are_in_one_op():
    multi_checks = [list(check.check_keys) for check in task_checks(TASK)]
    names_by_table = {
        "/".join(keys[0].asset_key.path): {key.name for key in keys}
        for keys in multi_checks
        if len(keys) > 1
    }
    assert names_by_table == {
        "quiz/questions": {"well_formed", "images_decode", "counts_match_the_paper", "as_expected"},
        "quiz/predictions": {"every_question_answered", "one_model_answered"},
        "quiz/scores": {"no_row_lost", "few_unscored", "few_unread"},
    }


def evaluate_with_missing_response(home):
    """Evaluate the quiz, where one of two questions has a response."""
    (home / "responses.jsonl").write_text(json.dumps({"question_id": "quiz/0", "text": "x"}))
    (home / "bench.toml").write_text('[models.m]\nkind = "recorded"\nfile = "responses.jsonl"\n')
    checks = task_checks(TASK)
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("model", ["m"])
        return dg.materialize(
            [questions_asset(quiz(2)), *evaluation_assets(TASK), *checks],
            partition_key="m",
            instance=instance,
            raise_on_error=False,
            resources=resources_over(home),
        )


def test_after_a_failed_check_the_others_still_report_and_nothing_is_scored(tmp_path):
    result = evaluate_with_missing_response(tmp_path)
    assert not result.asset_materializations_for_node("quiz__scores")
    evaluations = result.get_asset_check_evaluations()
    assert {
        evaluation.check_name: (evaluation.passed, evaluation.partition)
        for evaluation in evaluations
        if evaluation.asset_key == dg.AssetKey(["quiz", "predictions"])
    } == {"every_question_answered": (False, "m"), "one_model_answered": (True, "m")}
