from dataclasses import replace
from math import nan

import pytest

from bench_assets.comparison.runs import n_measured, run_alpha, run_verdicts
from bench_assets.comparison.verdicts import compare_scores, decide, verdict_sentence
from bench_assets.core.schema.rows import Metric, Question, Score
from bench_assets.evaluation import pipeline
from bench_assets.python_api.comparison import RunComparison
from bench_resources.tables.parquet import TableFiles
from tests.comparison.sides import build_scores
from tests.fakes.measures import both_halves, macro, squared
from tests.fakes.quiz import TASK, quiz
from tests.fakes.rows import metric, standing


def compare_points(before, after, *, task=TASK, questions=None):
    """The effects between two models that have these points on the quiz."""
    questions = questions or quiz(len(before))
    old, new = build_scores(questions, before, "old"), build_scores(questions, after, "new")
    return compare_scores(task, questions, old, new, slices=False)


# 4 of 30 gained: p = 0.043 if it is the only task, and 2.045 sqrt(0.1195 / 30) = 0.129.
GAINED = compare_points([0] * 4 + [1, 0] * 13, [1] * 4 + [1, 0] * 13)
UNCHANGED = compare_points([1, 0] * 15, [1, 0] * 15)


def test_a_gain_that_one_task_shows_is_undecided_among_thirteen():
    assert verdict_sentence(decide(GAINED)) == "better at a quiz (+0.133, +0.004 to +0.262)"
    comparisons = decide([*GAINED, *UNCHANGED * 12])
    assert {row.verdict for row in comparisons} == {"undecided"}
    assert verdict_sentence(comparisons) == "undecided on 13 of 13 tasks"


def test_better_worse_and_undecided_tasks_are_in_one_sentence():
    better = compare_points([0] * 30, [1] * 30)
    worse = compare_points([1] * 30, [0] * 30)
    # 0.934 = 1 - 2.045 / 31: t of 29 degrees of freedom, and the least standard error of 30.
    assert verdict_sentence(decide([*better, *worse, *UNCHANGED])) == (
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
@pytest.mark.parametrize(
    ("first_pair", "other_pairs"), [(0, 0), (1, 1)], ids=["none right", "all right"]
)
def test_the_units_are_those_of_the_metric_whatever_the_scores(
    measure, questions, n_units, first_pair, other_pairs
):
    """Where both halves of every pair are alike, points add up to the metric by chance."""
    task = replace(TASK, measures={"accuracy": measure})
    points = [first_pair] * 2 + [other_pairs] * (len(questions) - 2)
    (row,) = compare_points(points, points, task=task, questions=questions)
    assert row.n == n_units
    *_, last_line = repr(RunComparison(before="o", after="m", rows=(row,))).splitlines()
    assert str(n_units) in last_line.split()


def test_tasks_share_the_budget_of_a_run(tmp_path):
    tables = TableFiles(folder=str(tmp_path))
    tasks = [replace(TASK, name=name) for name in ("one", "two", "three")]
    tables.write(["one", "metrics"], [], Metric, "r/step-1")
    tables.write(["two", "metrics"], [], Metric, "r/step-1")
    assert n_measured(tables, tasks, "r/step-1") == 2
    assert n_measured(tables, tasks, "r/step-7") == 1  # at least one
    # Of 5 %, the first comparison of a run has 1 / (1 * 2); each of two tasks has half of that.
    alpha = run_alpha("r/step-2", ["r/step-1", "r/step-2"], n_tasks=2)
    assert alpha == pytest.approx(0.05 / 2 / 2)


def write_evaluation(tables, task_name: str, model: str, n_right: int) -> None:
    """Store scores and metrics of a model that is right on the first questions of thirty."""
    questions = quiz(30)
    scores = build_scores(questions, [n < n_right for n in range(30)], model)
    metrics = pipeline.summarise(
        replace(TASK, name=task_name), questions, predictions=[], scores=scores
    )
    tables.write([task_name, "scores"], scores, Score, model)
    tables.write([task_name, "metrics"], metrics, Metric, model)


@pytest.fixture
def run_tables(tmp_path):
    """Three steps of run a, one of run b, and a model that is no step."""
    tables = TableFiles(folder=str(tmp_path))
    tables.write(["quiz", "questions"], quiz(30), Question)
    for model, n_right in N_RIGHT.items():
        write_evaluation(tables, "quiz", model, n_right)
    return tables


N_RIGHT = {"a/step-9": 0, "a/step-10": 30, "a/step-2": 15, "b/step-1": 30, "gpt": 30}
STEP_9, STEP_10, STEP_2, *OTHERS = (standing(metric(model, 0.5, task="quiz")) for model in N_RIGHT)


def test_the_verdict_on_a_run_is_of_its_last_step_against_its_first(run_tables):
    # Half of 30 gained, give or take 2.05 standard errors of 0.0928.
    assert list(run_verdicts(run_tables, [TASK], [STEP_9, STEP_10, STEP_2, *OTHERS])) == [
        "a/step-10 against a/step-2: better at a quiz (+0.500, +0.310 to +0.690)."
    ]


@pytest.mark.parametrize(
    "first_step",
    [replace(STEP_2, n_failed=1), replace(STEP_2, value=nan)],
    ids=["a failed response", "no value"],
)
def test_a_step_without_a_complete_value_is_not_the_first_of_its_run(run_tables, first_step):
    (sentence,) = run_verdicts(run_tables, [TASK], [first_step, STEP_9, STEP_10])
    assert sentence.startswith("a/step-10 against a/step-9: better at a quiz (+1.000")


def test_without_tasks_there_are_no_verdicts(run_tables):
    assert list(run_verdicts(run_tables, [], [STEP_9, STEP_10])) == []


@pytest.mark.parametrize("failed_step", ["a/step-1", "a/step-2"])
def test_a_step_is_not_compared_on_tasks_where_responses_are_missing(tmp_path, failed_step):
    tables = TableFiles(folder=str(tmp_path))
    rows = []
    for task_name in ("one", "two"):
        tables.write([task_name, "questions"], quiz(30), Question)
        for step, n_right in (("a/step-1", 0), ("a/step-2", 30)):
            write_evaluation(tables, task_name, step, n_right)
            n_failed = 3 if (task_name, step) == ("one", failed_step) else 0
            rows.append(standing(metric(step, 0.5, task=task_name), n_failed=n_failed))

    tasks = [replace(TASK, name=name, title=name) for name in ("one", "two")]
    (sentence,) = run_verdicts(tables, tasks, rows)

    assert "better at two" in sentence
    assert "one" not in sentence
