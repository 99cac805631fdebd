"""A metric is compared as itself: parted into what its units add, and put together again."""

from dataclasses import replace

import numpy as np
import pytest

from bench_assets.comparison.verdicts import compare_scores, decide
from bench_assets.core.metrics.caption_measures import cider
from bench_assets.core.schema.rows import Question, Score
from bench_assets.core.stats.clusters import cluster_questions
from bench_assets.core.stats.means import ScoredPoint, mean
from bench_assets.core.stats.paired_tests import PairedScores, change_interval, mean_change
from bench_assets.evaluation.task import ScoredQuestion
from bench_assets.evaluation.units import N_GROUPS, ScoredMetric, metric_pairs
from bench_assets.suites.journeybench.captioning.scoring import per_caption_cider
from tests.fakes.measures import accuracy, both_halves, macro, squared
from tests.fakes.quiz import TASK, quiz
from tests.fakes.rows import question


def scored(questions: list[Question], points: "np.ndarray | list[float]") -> list[ScoredQuestion]:
    return [
        ScoredQuestion(
            q, Score(question_id=q.question_id, model="m", condition="main", points=float(p))
        )
        for q, p in zip(questions, points, strict=True)
    ]


def pairs(measure, questions, before, after):
    first, second = (scored(questions, points) for points in (before, after))
    return metric_pairs(
        measure,
        ScoredMetric(first, measure(first).value),
        ScoredMetric(second, measure(second).value),
        cluster_questions(questions),
    )


def test_a_mean_of_points_is_paired_question_by_question():
    paired = pairs(accuracy, quiz(3), [1, 0, 1], [0, 0, 1])
    assert [pair[:2] for pair in paired] == [(1, 0), (0, 0), (1, 1)]


def test_pairs_of_questions_are_one_unit_each():
    # Both halves right: 1 of 2 before, 0 of 2 after; question by question nothing was lost.
    paired = pairs(both_halves, quiz(4, group=2), [1, 1, 0, 0], [1, 0, 1, 0])
    assert [(p.before, p.after, p.most) for p in paired] == [(1, 0, 1), (0, 0, 1)]
    assert mean_change(paired) == -0.5


def test_pairs_that_share_an_image_are_units_of_their_own_in_one_cluster():
    """As in CODIS: four pairs about two images are four units, not two and not eight."""
    questions = [replace(q, images=(f"image {n // 4}",)) for n, q in enumerate(quiz(8, group=2))]
    paired = pairs(both_halves, questions, [1, 1, 0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0, 1, 1])
    assert [(p.before, p.after, p.most) for p in paired] == [
        (1, 1, 1),
        (0, 1, 1),
        (1, 0, 1),
        (1, 1, 1),
    ]
    assert [p.cluster == paired[0].cluster for p in paired] == [True, True, False, False]


def test_points_that_weigh_otherwise_than_the_metric_are_paired_question_by_question():
    """As MULTI's accuracy: right only with all of 1, 2 or 3 points, about shared images."""
    questions = [replace(q, images=(f"image {n // 2}",)) for n, q in enumerate(quiz(4))]

    def whole(rows):
        return mean(ScoredPoint(float(s.points == s.max_points)) for _, s in rows)

    def of(points):
        return [
            one._replace(score=replace(one.score, max_points=float(1 + n % 3)))
            for n, one in enumerate(scored(questions, points))
        ]

    first, second = (
        ScoredMetric(side, whole(side).value) for side in (of([1, 1, 3, 0]), of([1, 2, 0, 1]))
    )
    paired = metric_pairs(whole, first, second, cluster_questions(questions))
    assert [(p.before, p.after) for p in paired] == [(1, 1), (0, 1), (1, 0), (0, 1)]


def test_categories_count_the_same_however_many_questions_they_have():
    # Kind 0 has one question, kind 1 three: 1/2 (1 + 1/3) before, 1/2 (0 + 2/3) after.
    questions = [replace(q, category=f"kind {min(n, 1)}") for n, q in enumerate(quiz(4))]
    paired = pairs(macro, questions, [1, 1, 0, 0], [0, 1, 1, 0])
    assert [pair.most for pair in paired] == pytest.approx([1 / 2, 1 / 6, 1 / 6, 1 / 6])
    assert mean_change(paired) == pytest.approx(1 / 3 - 2 / 3)


def test_what_is_no_mean_is_compared_by_leaving_groups_out():
    # Two right of four: 1/4; without one that is right 1/9, without a wrong one 4/9.
    # Pseudo-values: 4/4 - 3/9 = 2/3 and 4/4 - 12/9 = -1/3; their mean is 1/6.
    paired = pairs(squared, quiz(4), [1, 1, 0, 0], [0, 0, 0, 0])
    assert [pair.before for pair in paired] == pytest.approx([2 / 3, 2 / 3, -1 / 3, -1 / 3])
    assert mean_change(paired) == pytest.approx(-1 / 6)
    assert len(pairs(squared, quiz(100), [1] * 50 + [0] * 50, [0] * 100)) == N_GROUPS


CAPTIONS = [f"A {animal} rides a {thing}." for animal in ("cat", "dog", "owl", "pig", "bee")
            for thing in ("bus", "cake", "drum", "kite")]  # fmt: skip


@pytest.mark.parametrize(
    "adds", [{"cider": per_caption_cider}, {}], ids=["as the task says", "by leaving groups out"]
)
def test_a_damaged_model_is_worse_by_cider_and_by_no_other_name(adds):
    """As the demo's damaged checkpoint, which was called -0.765: that is ROUGE-L."""
    questions = [
        question(question_id=f"quiz/{n}", task="quiz", answer=(caption,))
        for n, caption in enumerate(CAPTIONS)
    ]
    task = replace(TASK, measures={"cider": cider}, adds=adds)

    def evaluated(texts, rouge, model):
        return [
            Score(question_id=q.question_id, model=model, condition="main", points=rouge,
                  answer=(text,))
            for q, text in zip(questions, texts, strict=True)
        ]  # fmt: skip

    before, after = evaluated(CAPTIONS, 1.0, "old"), evaluated(["a a a"] * 20, 0.235, "new")
    (line,) = decide(compare_scores(task, questions, before, after))
    assert (line.metric, line.verdict) == ("cider", "worse")
    assert line.before == pytest.approx(10)  # every caption is its one reference
    assert line.change < -9
    assert line.low <= line.change <= line.high < 0
    assert (len(line.lost), line.gained) == (20, ())


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param([PairedScores(0, n < 4, str(n)) for n in range(30)], (0.0042, 0.2625),
                     id="four of 30 gained: 0.133 -+ 2.045 sqrt(3.467/29/30)"),
        pytest.param([PairedScores(0, 1, str(n % 3)) for n in range(300)], (0, 1),
                     id="three clusters of three gained: 1 -+ 1 by signs, a share at most by 1"),
        pytest.param([PairedScores(0, 2, str(n % 3)) for n in range(300)], (0, 4),
                     id="points that are no shares: 2 -+ 2 by signs"),
        pytest.param(
            [PairedScores(1, 0, "a"), PairedScores(1, 1, "a")], (-np.inf, np.inf), id="one cluster"
        ),
    ],
)  # fmt: skip
def test_the_interval_of_a_difference_by_pencil(found, expected):
    assert change_interval(found) == pytest.approx(expected, abs=6e-4)
