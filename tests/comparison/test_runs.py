"""Verdicts on tasks that are looked at together, and on the steps of a run."""

from dataclasses import replace
from math import nan

import pytest

from bench_assets.comparison.runs import n_measured, run_alpha, run_verdicts
from bench_assets.comparison.verdicts import (
    compare_scores,
    decide,
    verdict_sentence,
)
from bench_assets.core.schema.rows import Metric, Question, Score
from bench_assets.evaluation import pipeline
from bench_assets.python_api.comparison import RunComparison
from bench_resources.tables.parquet import TableFiles
from tests.fakes.measures import both_halves, macro, squared
from tests.fakes.quiz import TASK, quiz
from tests.fakes.rows import metric, standing


def scores(questions, points, model="m"):
    return [
        Score(question_id=q.question_id, model=model, condition="main", points=float(p))
        for q, p in zip(questions, points, strict=True)
    ]


def effects(before, after, *, task=TASK, questions=None, slices=False):
    exam = questions or quiz(len(before))
    sides = scores(exam, before, "old"), scores(exam, after, "new")
    return compare_scores(task, exam, *sides, slices=slices)


GAINED = effects([0] * 4 + [1, 0] * 13, [1] * 4 + [1, 0] * 13)  # 4 of 30: p = 0.043 alone
STILL = effects([1, 0] * 15, [1, 0] * 15)


def test_a_gain_that_one_task_shows_is_undecided_among_thirteen():
    assert verdict_sentence(decide(GAINED)) == "better at a quiz (+0.133, +0.004 to +0.262)"
    among = decide([*GAINED, *STILL * 12])
    assert {line.verdict for line in among} == {"undecided"}
    assert verdict_sentence(among) == "undecided on 13 of 13 tasks"


def test_what_is_better_worse_and_undecided_is_one_sentence():
    lines = decide([*effects([0] * 30, [1] * 30), *effects([1] * 30, [0] * 30), *STILL])
    assert verdict_sentence(lines) == (
        "better at a quiz (+1.000, +0.934 to +1.000); worse at a quiz (-1.000, -1.000 to -0.934);"
        " undecided on 1 of 3 tasks"
    )


@pytest.mark.parametrize(
    ("measure", "questions", "n_units"),
    [
        pytest.param(both_halves, quiz(80, group=2), 40, id="pairs that are right as a whole"),
        pytest.param(both_halves, quiz(4, group=2), 2, id="two pairs"),
        pytest.param(macro, quiz(80, categories=2, group=2), 80, id="a macro average"),
        pytest.param(squared, quiz(80), 40, id="no mean: forty groups left out"),
    ],
)
@pytest.mark.parametrize("halves", [(0, 0), (1, 1)], ids=["none right", "all right"])
def test_the_units_are_those_of_the_metric_whatever_the_scores(measure, questions, n_units, halves):
    """Where both halves of every pair are alike, points add up to the metric by chance."""
    task = replace(TASK, measures={"accuracy": measure})
    points = [halves[0]] * 2 + [halves[1]] * (len(questions) - 2)
    (line,) = effects(points, points, task=task, questions=questions)
    assert line.n == n_units
    shown = repr(RunComparison(before="o", after="m", rows=(line,)))
    assert str(n_units) in shown.splitlines()[-1].split()


def test_tasks_share_the_budget_of_a_run(tmp_path):
    tables, steps = TableFiles(folder=str(tmp_path)), ["r/step-1", "r/step-2"]
    tasks = [replace(TASK, name=name) for name in ("one", "two", "three")]
    for name in ("one", "two"):
        tables.write([name, "metrics"], [], Metric, "r/step-1")
    n_tasks = n_measured(tables, tasks, "r/step-1")
    assert (n_tasks, n_measured(tables, tasks, "r/step-7")) == (2, 1)
    assert run_alpha("r/step-2", steps, n_tasks) == pytest.approx(0.05 / 2 / 2)


def write_side(tables, name: str, questions, points, model: str) -> None:
    """The scores and metrics of a model on the task of this name."""
    tables.write([name, "scores"], points, Score, model)
    metrics = pipeline.summarise(replace(TASK, name=name), questions, [], points)
    tables.write([name, "metrics"], metrics, Metric, model)


def test_the_verdict_on_a_run_is_of_its_last_step_against_its_first(tmp_path):
    tables, questions = TableFiles(folder=str(tmp_path)), quiz(30)
    tables.write(["quiz", "questions"], questions, Question)
    n_right = {"a/step-9": 0, "a/step-10": 30, "a/step-2": 15, "b/step-1": 30, "gpt": 30}
    for model, n in n_right.items():
        points = scores(questions, [k < n for k in range(30)], model)
        write_side(tables, "quiz", questions, points, model)
    rows = [standing(metric(model, 0.5, task="quiz")) for model in n_right]
    assert list(run_verdicts(tables, [TASK], rows)) == [  # half of 30, (2.05 * 0.0928)
        "a/step-10 against a/step-2: better at a quiz (+0.500, +0.310 to +0.690)."
    ]
    failed = [replace(rows[2], n_failed=1), replace(rows[2], value=nan), *rows[:2]]
    (sentence,) = run_verdicts(tables, [TASK], failed)
    assert sentence.startswith("a/step-10 against a/step-9: better at a quiz (+1.000")
    assert not list(run_verdicts(tables, [], rows))


def test_a_step_is_not_compared_on_tasks_where_responses_are_missing(tmp_path):
    tables, questions = TableFiles(folder=str(tmp_path)), quiz(30)
    tasks = [replace(TASK, name=name, title=name) for name in ("one", "two")]
    n_right = {"a/step-1": 0, "a/step-2": 30}
    for name in ("one", "two"):
        tables.write([name, "questions"], questions, Question)
        for model, n in n_right.items():
            points = scores(questions, [k < n for k in range(30)], model)
            write_side(tables, name, questions, points, model)
    complete = [
        standing(metric(model, 0.5, task=name)) for model in n_right for name in ("one", "two")
    ]
    failed = [replace(row, n_failed=3 * (row.task == "one")) for row in complete]
    (sentence,) = run_verdicts(tables, tasks, [*failed[:2], *complete[2:]])
    assert ("one" in sentence, "better at two" in sentence) == (False, True)
    (sentence,) = run_verdicts(tables, tasks, [*complete[:2], *failed[2:]])
    assert ("one" in sentence, "better at two" in sentence) == (False, True)
