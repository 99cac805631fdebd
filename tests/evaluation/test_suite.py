from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench_assets.evaluation.suite import Suite, SuiteSettings, suite_defects
from tests.fakes.quiz import TASK

QUIZ = Suite(name="quiz", tasks=(TASK,), assets=list)


def quiz_task(name, **fields):
    return replace(TASK, name=name, **fields)


MAIN = TASK.conditions["main"]
WRONG_ABOUT: dict[str, Any] = {"about": 7}


@pytest.mark.parametrize(
    ("fields", "defects"),
    [
        pytest.param({"tasks": (quiz_task("quiz/a"), quiz_task("quiz/b"))}, [], id="a good suite"),
        pytest.param({"tasks": ()}, ["it has no tasks"], id="no task"),
        pytest.param(
            {"tasks": (TASK, TASK, quiz_task("quiz/a"), quiz_task("quizzes/a"))},
            [
                "task quiz: 2 tasks have this name",
                "task quiz/a: lies in the folder of task quiz",
                "task quizzes/a: its name should begin with 'quiz'",
            ],
            id="names of other tasks",
        ),
        pytest.param(
            {
                "tasks": (
                    quiz_task("quiz/é"),
                    quiz_task("quiz/", conditions={"no text": MAIN, "main": MAIN}),
                )
            },
            [
                "task quiz/é: 'é': expected letters, digits and _, no digit first",
                "task quiz/: '': expected letters, digits and _, no digit first",
                "task quiz/: 'no text': expected letters, digits and _, no digit first",
                "task quiz/: its first condition should be 'main', got ['no text', 'main']",
            ],
            id="names that no asset can have, conditions in another order",
        ),
        pytest.param(
            {
                "tasks": (quiz_task("quiz", scorers={}, measures={}),),
                "settings": dict,
                "published": Path("nowhere.csv"),
                "code": (Path("nowhere"),),
            },
            [
                "task quiz: it has no scorer",
                "task quiz: it has no measure",
                "settings: dict does not derive from SuiteSettings",
                "published: no such file: nowhere.csv",
                "code: no such file or folder: nowhere",
            ],
            id="no scorer, no measure, missing files",
        ),
        pytest.param(
            {"tasks": TASK, "published": "a.csv", "code": "abc", "settings": SuiteSettings()},
            [
                "tasks: expected a tuple, it is of type Task",
                "published: expected Path or NoneType, it is of type str",
                "settings: expected a class, it is of type SuiteSettings",
                "code: expected a tuple, it is of type str",
            ],
            id="fields of other types",
        ),
        pytest.param(
            {
                "tasks": (
                    quiz_task("quiz", title=None, measures=[len]),
                    quiz_task("quiz/b", conditions={"main": replace(MAIN, **WRONG_ABOUT)}),
                )
            },
            [
                "task quiz: title: expected str, it is of type NoneType",
                "task quiz: measures: expected a mapping, it is of type list",
                "task quiz/b: condition 'main', about: expected str, it is of type int",
            ],
            id="fields of tasks and of a condition of other types",
        ),
    ],
)
def test_every_defect_is_listed(fields, defects):
    assert suite_defects(replace(QUIZ, **fields)) == defects


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("my-quiz", id="a hyphen"),
        pytest.param("", id="empty"),
        pytest.param("quiz_ablations", id="the group of another's ablations"),
        pytest.param("evaluate_quiz", id="the job that evaluates another"),
        pytest.param("q" * 54, id="63 characters with the ending _ablations, Dagster's limit"),
        pytest.param("checkpoint", id="evaluate_checkpoint is a job of the graph"),
    ],
)
def test_a_name_that_a_suite_cannot_have_is_its_first_defect(name):
    suite = replace(QUIZ, name=name, tasks=(quiz_task(f"{name}/a"),))
    assert suite_defects(suite)[0].startswith("name: ")
