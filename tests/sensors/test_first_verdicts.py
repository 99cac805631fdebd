"""A quick evaluation says that a checkpoint is worse where it is, and seldom where it is not."""

from dataclasses import replace

import pytest

from bench_assets.core.metrics.aggregates import group_accuracy
from bench_assets.core.schema.rows import Prediction, Score
from bench_assets.core.stats.paired_tests import PairedScores
from bench_resources.tables.parquet import TableFiles
from bench_sensors.quick_evaluation import cluster_gains, verdict
from tests.quiz import TASK, quiz

QUESTIONS = quiz(60)
OLDER, OLD, NEW = (f"run/step-{step}@aaaaaaaa" for step in (80, 900, 1000))


def responses(model, right, prompt="p", scorer="exact"):
    said = [
        Prediction(question_id=q.question_id, model=model, condition="main", text="",
                   prompt_sha256=prompt)
        for q in QUESTIONS
    ]  # fmt: skip
    scores = [
        Score(question_id=q.question_id, model=model, condition="main", points=float(n < right),
              scorer=scorer)
        for n, q in enumerate(QUESTIONS)
    ]  # fmt: skip
    return said, scores


@pytest.fixture
def tables(tmp_path):
    files = TableFiles(folder=str(tmp_path))
    for model in (OLDER, OLD):
        said, scores = responses(model, 50)
        files.write(["quiz", "predictions"], said, Prediction, model)
        files.write(["quiz", "scores"], scores, Score, model)
    return files


@pytest.mark.parametrize(
    ("now", "begins"),
    [
        # 50 lost of 60: a bet of half wins half on each of them, 1.5 to the 50th.
        pytest.param(responses(NEW, 0), f"worse against {OLD}: accuracy -0.833 on 60",
                     id="all lost"),
        pytest.param(responses(NEW, 50), f"undecided against {OLD}: accuracy +0.000",
                     id="as it was"),
        pytest.param(responses(NEW, 48), "undecided", id="two lost are chance"),
        pytest.param(responses(NEW, 0, prompt="q"), f"not comparable with {OLD}", id="other words"),
        pytest.param(responses(NEW, 0, scorer="r"), f"not comparable with {OLD}", id="read apart"),
        pytest.param(responses("run/step-7", 0), "nothing to compare with", id="the first step"),
    ],
)  # fmt: skip
def test_the_step_before_is_what_it_is_compared_with(tables, now, begins):
    assert verdict(TASK, QUESTIONS, *now, tables).startswith(begins)


@pytest.mark.parametrize(
    ("before", "now", "begins"),
    [
        # The value is an error rate: 50 more errors of 60 are worse, as 50 lost are above.
        pytest.param(10, 60, f"worse against {OLD}: accuracy +0.833 on 60", id="more errors"),
        pytest.param(60, 10, f"undecided against {OLD}: accuracy -0.833", id="fewer errors"),
    ],
)
def test_more_errors_are_worse(tables, before, now, begins):
    errors = replace(TASK, lower_is_better=frozenset({"accuracy"}))
    _, scores = responses(OLD, before)
    tables.write(["quiz", "scores"], scores, Score, OLD)
    assert verdict(errors, QUESTIONS, *responses(NEW, now), tables).startswith(begins)


def test_steps_that_begin_again_in_each_epoch_are_in_order(tables):
    # As in the regression check: epoch 1 is before epoch 2, whatever the steps within them.
    before, model = "r/epoch-1-step-900@aaaaaaaa", "r/epoch-2-step-10@aaaaaaaa"
    said, scores = responses(before, 50)
    tables.write(["quiz", "predictions"], said, Prediction, before)
    tables.write(["quiz", "scores"], scores, Score, before)
    assert verdict(TASK, QUESTIONS, *responses(model, 50), tables).startswith(
        f"undecided against {before}"
    )


def test_of_an_overwritten_step_the_weights_that_were_evaluated_last_count(tables):
    again = f"{OLD[:-8]}00000000"
    said, scores = responses(again, 50)
    tables.write(["quiz", "predictions"], said, Prediction, again)
    tables.write(["quiz", "scores"], scores, Score, again)
    found = verdict(TASK, QUESTIONS, *responses(NEW, 50), tables)
    assert found.startswith(f"undecided against {again}")
    assert found.endswith("(alpha 0.0042, comparison 2 of the run)")  # 0.05 / (2 * 3) / 2


def test_a_pair_with_an_unscored_half_is_left_out(tables):
    # Before, 50 of 60 questions are right: 25 of 30 pairs. Now all are, and half of a pair that
    # was wrong is unscored: 4 of 29 pairs are gained.
    task = replace(TASK, measures={"group_accuracy": group_accuracy})
    said, scores = responses(NEW, 60)
    scores[59] = replace(scores[59], points=None)
    found = verdict(task, quiz(60, group=2), said, scores, tables)
    assert found.startswith(f"undecided against {OLD}: group_accuracy +0.138 on 29 independent")


def test_every_checkpoint_spends_less(tables):
    said = verdict(TASK, QUESTIONS, *responses(NEW, 0), tables)
    assert said.endswith("(alpha 0.0042, comparison 2 of the run)")  # 0.05 / (2 * 3) / 2


def test_gains_are_shares_of_the_largest_cluster_whatever_their_order():
    pairs = [
        PairedScores(0, 2, "a", 4.0),
        PairedScores(1, 0, "b", 1.0),
        PairedScores(1, 1, "b", 1.0),
    ]
    found = cluster_gains(pairs)
    assert sorted(found) == [-0.25, 0.5]
    swapped = [replace_points(pair) for pair in pairs]
    assert cluster_gains(swapped) == [-gain for gain in found]


def replace_points(pair):
    return pair._replace(before=pair.after, after=pair.before)
