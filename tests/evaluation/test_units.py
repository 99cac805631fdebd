from dataclasses import replace

import numpy as np
import pytest

from bench_assets.comparison.verdicts import compare_scores, decide
from bench_assets.core.metrics.caption_measures import cider
from bench_assets.core.schema.rows import Score
from bench_assets.core.stats.clusters import cluster_questions
from bench_assets.core.stats.means import ScoredPoint, mean
from bench_assets.core.stats.paired_tests import PairedScores, change_interval, mean_change
from bench_assets.evaluation.task import ScoredQuestion
from bench_assets.evaluation.units import N_GROUPS, ScoredMetric, metric_pairs
from bench_assets.suites.journeybench.captioning.scoring import per_caption_cider
from tests.fakes.measures import accuracy, both_halves, macro, squared
from tests.fakes.quiz import TASK, quiz
from tests.fakes.rows import question


def score_questions(questions, points, max_points):
    return [
        ScoredQuestion(
            question,
            Score(
                question_id=question.question_id,
                model="m",
                condition="main",
                points=float(point),
                max_points=most,
            ),
        )
        for question, point, most in zip(questions, points, max_points, strict=True)
    ]


def pair_units(measure, questions, before, after, max_points=None):
    """The units of a measure for two models, from their points on each question."""
    max_points = max_points or [1.0] * len(questions)
    first = score_questions(questions, before, max_points)
    second = score_questions(questions, after, max_points)
    return metric_pairs(
        measure,
        ScoredMetric(first, measure(first).value),
        ScoredMetric(second, measure(second).value),
        cluster_questions(questions),
    )


def test_a_mean_of_points_is_paired_question_by_question():
    paired = pair_units(accuracy, quiz(3), [1, 0, 1], [0, 0, 1])
    assert [(pair.before, pair.after) for pair in paired] == [(1, 0), (0, 0), (1, 1)]


def test_pairs_of_questions_are_one_unit_each():
    # Both halves right: 1 of 2 before, 0 of 2 after; question by question nothing was lost.
    paired = pair_units(both_halves, quiz(4, group=2), [1, 1, 0, 0], [1, 0, 1, 0])
    assert [(pair.before, pair.after, pair.most) for pair in paired] == [(1, 0, 1), (0, 0, 1)]
    assert mean_change(paired) == -0.5


def test_pairs_that_share_an_image_are_units_of_their_own_in_one_cluster():
    """As in CODIS: four pairs about two images are four units, not two and not eight."""
    questions = [replace(q, images=(f"image {n // 4}",)) for n, q in enumerate(quiz(8, group=2))]
    paired = pair_units(both_halves, questions, [1, 1, 0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0, 1, 1])
    assert [(pair.before, pair.after, pair.most) for pair in paired] == [
        (1, 1, 1),
        (0, 1, 1),
        (1, 0, 1),
        (1, 1, 1),
    ]
    assert [p.cluster == paired[0].cluster for p in paired] == [True, True, False, False]


def share_with_all_points(rows):
    """As MULTI's accuracy: right only with all points of a question."""
    return mean(ScoredPoint(float(score.points == score.max_points)) for _, score in rows)


def test_a_metric_that_weighs_points_otherwise_is_paired_question_by_question():
    questions = [replace(q, images=(f"image {n // 2}",)) for n, q in enumerate(quiz(4))]
    paired = pair_units(
        share_with_all_points, questions, [1, 1, 3, 0], [1, 2, 0, 1], max_points=[1, 2, 3, 1]
    )
    assert [(pair.before, pair.after) for pair in paired] == [(1, 1), (0, 1), (1, 0), (0, 1)]


def test_categories_count_the_same_however_many_questions_they_have():
    # Kind 0 has one question, kind 1 three: 1/2 (1 + 1/3) before, 1/2 (0 + 2/3) after.
    questions = [replace(q, category=f"kind {min(n, 1)}") for n, q in enumerate(quiz(4))]
    paired = pair_units(macro, questions, [1, 1, 0, 0], [0, 1, 1, 0])
    assert [pair.most for pair in paired] == pytest.approx([1 / 2, 1 / 6, 1 / 6, 1 / 6])
    assert mean_change(paired) == pytest.approx(1 / 3 - 2 / 3)


def test_a_metric_that_is_no_mean_is_compared_by_leaving_groups_out():
    # Two right of four: 1/4; without one that is right 1/9, without a wrong one 4/9.
    # Pseudo-values: 4/4 - 3/9 = 2/3 and 4/4 - 12/9 = -1/3; their mean is 1/6.
    paired = pair_units(squared, quiz(4), [1, 1, 0, 0], [0, 0, 0, 0])
    assert [pair.before for pair in paired] == pytest.approx([2 / 3, 2 / 3, -1 / 3, -1 / 3])
    assert mean_change(paired) == pytest.approx(-1 / 6)


def test_at_most_a_fixed_number_of_groups_is_left_out():
    assert len(pair_units(squared, quiz(100), [1] * 50 + [0] * 50, [0] * 100)) == N_GROUPS


CAPTIONS = [f"A {animal} rides a {thing}." for animal in ("cat", "dog", "owl", "pig", "bee")
            for thing in ("bus", "cake", "drum", "kite")]  # fmt: skip


def score_captions(questions, captions, rouge, model):
    return [
        Score(question_id=q.question_id, model=model, condition="main", points=rouge,
              answer=(caption,))
        for q, caption in zip(questions, captions, strict=True)
    ]  # fmt: skip


@pytest.mark.parametrize(
    "adds", [{"cider": per_caption_cider}, {}], ids=["as the task says", "by leaving groups out"]
)
def test_a_damaged_captioner_is_worse_by_cider_and_not_by_its_points(adds):
    """The points of captions are their ROUGE-L, whose change of -0.765 is not that of CIDEr."""
    questions = [
        question(question_id=f"quiz/{n}", task="quiz", answer=(caption,))
        for n, caption in enumerate(CAPTIONS)
    ]
    task = replace(TASK, measures={"cider": cider}, adds=adds)
    before = score_captions(questions, CAPTIONS, rouge=1.0, model="old")
    after = score_captions(questions, ["a a a"] * 20, rouge=0.235, model="new")

    (comparison,) = decide(compare_scores(task, questions, before, after))

    assert (comparison.metric, comparison.verdict) == ("cider", "worse")
    assert comparison.before == pytest.approx(10)  # every caption is its one reference
    assert comparison.change < -9
    assert comparison.low <= comparison.change <= comparison.high < 0
    assert (len(comparison.lost), comparison.gained) == (20, ())


@pytest.mark.parametrize(
    ("paired", "expected"),
    [
        pytest.param([PairedScores(0, n < 4, cluster=str(n)) for n in range(30)], (0.0042, 0.2625),
                     id="four of 30 gained: 0.133 -+ 2.045 sqrt(3.467/29/30)"),
        pytest.param([PairedScores(0, 1, cluster=str(n % 3)) for n in range(300)], (0, 1),
                     id="three clusters of three gained: 1 -+ 1 by signs, a share at most by 1"),
        pytest.param([PairedScores(0, 2, cluster=str(n % 3)) for n in range(300)], (0, 4),
                     id="points that are no shares: 2 -+ 2 by signs"),
        pytest.param(
            [PairedScores(1, 0, cluster="a"), PairedScores(1, 1, cluster="a")], (-np.inf, np.inf),
            id="one cluster",
        ),
    ],
)  # fmt: skip
def test_the_interval_of_a_difference_is_that_calculated_by_hand(paired, expected):
    assert change_interval(paired) == pytest.approx(expected, abs=6e-4)
