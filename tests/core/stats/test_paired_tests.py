"""Paired comparisons: p-values from pencil and paper, clusters, corrections, sample sizes."""

from collections.abc import Sequence
from math import comb, sqrt

import numpy as np
import pytest
from scipy.stats import t, ttest_1samp

from bench_assets.core.stats.clusters import cluster_questions
from bench_assets.core.stats.paired_tests import (
    PairedScores,
    change_interval,
    change_variance,
    holm,
    paired_t_test,
)
from tests.core.stats.test_means import satterthwaite
from tests.fakes.rows import question


def pairs(*points: tuple[float, float], cluster: str = "") -> list[PairedScores]:
    return [PairedScores(a, b, cluster or str(number)) for number, (a, b) in enumerate(points)]


def by_hand(gains: Sequence[float], weights: Sequence[float]) -> float:
    """Student's t of a ratio over clusters, CR2 with Satterthwaite's freedom: its p-value."""
    d, w = np.array(gains), np.array(weights, float)
    ratio, rest = d.sum() / w.sum(), 1 - w / w.sum()
    error = sqrt(((d - ratio * w) ** 2 / rest).sum()) / w.sum()
    return float(2 * t.sf(abs(ratio) / error, satterthwaite(w)))


@pytest.mark.parametrize(
    "gains",
    [
        pytest.param([1, -1, 0, 1, 1, 0, 1], id="right or wrong"),
        pytest.param([0.9, -0.75, 0, 0.1, 0.7, 0.2], id="points in between"),
        pytest.param([3, 1, 2, -1, 0, 2, 4, -2], id="more than one point"),
    ],
)
def test_of_questions_alone_it_is_the_t_test(gains):
    given = [PairedScores(0, gain, str(number)) for number, gain in enumerate(gains)]
    assert paired_t_test(given).p == pytest.approx(ttest_1samp(gains, 0).pvalue, rel=1e-9)


def test_of_clusters_of_unequal_size_it_is_that_of_a_ratio():
    given = [
        PairedScores(0, 1, "a"),
        PairedScores(0, 1, "a"),
        PairedScores(1, 0, "b"),
        PairedScores(0, 1, "c"),
        PairedScores(0, 1, "c"),
    ]
    given += [PairedScores(0, 0, "c"), PairedScores(0, 1, "d"), PairedScores(0, 1, "e", most=2.0)]
    assert paired_t_test(given).p == pytest.approx(
        by_hand([2, -1, 2, 1, 1], [2, 1, 3, 1, 2]), rel=1e-9
    )


@pytest.mark.parametrize(
    ("given", "p"),
    [
        pytest.param(pairs((0, 1), (0, 0.5), cluster="a"), 1.0, id="one cluster shows nothing"),
        pytest.param(pairs(*[(0.5, 0.5)] * 9), 1.0, id="no change shows nothing"),
        pytest.param(pairs((0, 0.5), (0.5, 0)), 1.0, id="as much lost as won shows nothing"),
        pytest.param(pairs(*[(0, 1)] * 3), 1 / 2**4, id="three of three: a sign test's, one-sided"),
        # No spread: the error is taken for 1 / sqrt(6 * 8), and 0.5 sqrt(48) is 3.46.
        pytest.param(pairs(*[(0, 0.5)] * 6), 2 * t.sf(sqrt(12), 5), id="six equal gains"),
        # t = 3 / sqrt(203 / 202 * (3 - 9 / 203)) = 1.7406
        pytest.param(
            pairs(*[(0, 1)] * 3, *[(1, 1)] * 200), 2 * t.sf(1.7406, 202), id="three of many"
        ),
    ],
)
def test_few_clusters_are_not_taken_for_much(given, p):
    assert paired_t_test(given).p == pytest.approx(p, abs=1e-4)


def alarms(n: int, rate: float) -> float:
    """How often two equal models are called different, a binomial sum."""
    found = 0.0
    for changed in range(1, n + 1):
        weight = comb(n, changed) * rate**changed * (1 - rate) ** (n - changed)
        for lost in range(changed // 2 + 1) if weight > 1e-6 else ():
            gains = [(1, 0)] * lost + [(0, 1)] * (changed - lost) + [(1, 1)] * (n - changed)
            if paired_t_test(pairs(*gains)).p >= 0.05:
                break
            found += 2 * weight * comb(changed, lost) / 2**changed
    return found


@pytest.mark.parametrize(
    ("n", "rate"), [(30, 0.15), (30, 0.3), (30, 0.5), (30, 0.9), (60, 0.1), (60, 0.4)]
)
def test_one_equal_model_in_twenty_is_called_different(n, rate):
    assert alarms(n, rate) == pytest.approx(0.05, abs=0.015)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 15, 40, 100])
def test_the_interval_leaves_out_zero_just_where_the_test_says_so(n):
    drawn = np.random.default_rng(n)
    verdicts = set()
    for _ in range(60):
        gains = drawn.choice([-1, 0, 1, 0.5], n) + drawn.choice([0, 2 / n**0.5, 0.3], 1)
        given = [
            PairedScores(0, gain, str(number // 2)) for number, gain in enumerate(gains.tolist())
        ]
        low, high = change_interval(given)
        assert (low > 0 or high < 0) == (paired_t_test(given).p < 0.05)
        verdicts.add(paired_t_test(given).p < 0.05)
    assert n < 8 or verdicts == {True, False}


def test_holm_corrects_nothing_above_one():
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([0.04]) == [0.04]


def test_clusters_are_what_shares_a_group_or_all_images():
    questions = [
        question(question_id="a", group_id="g", images=("1",)),
        question(question_id="b", group_id="h", images=("1",)),
        question(question_id="c", group_id="h"),
        question(question_id="d", images=("1", "2")),
        question(question_id="e"),
        question(question_id="f"),
    ]
    clusters = cluster_questions(questions)
    assert clusters["a"] == clusters["b"] == clusters["c"]
    assert len({clusters[name] for name in "adef"}) == 4


@pytest.mark.parametrize(
    ("given", "variance"),
    [
        pytest.param(pairs(*[(0, 1), (1, 0)] * 50), 1, id="every question changes"),
        pytest.param(pairs((1, 1)), 1 / 3, id="none of one changes: one in three may"),
        pytest.param(pairs(*[(1, 1)] * 98), 1 / 100, id="none of 98: one in 100 may"),
        # 0.02 - 0.02², above 1/52
        pytest.param(pairs((0, 1), *[(1, 1)] * 49), 0.0196, id="one of fifty changes"),
    ],
)
def test_the_spread_of_few_changes_is_that_of_one_more(given, variance):
    assert change_variance(given) == pytest.approx(variance)


def test_the_spread_of_questions_of_two_points_is_of_their_shares():
    # Five of ten gain both points: each a half away from the mean, 0.5 squared.
    given = [PairedScores(0, 2.0 * (number % 2), str(number), most=2.0) for number in range(10)]
    assert change_variance(given) == 0.25


def test_questions_of_two_points_are_as_good_as_two_of_one():
    gains = [3, 1, 2, -1, 0, 2, 4, -2]
    of_one, of_two = (
        paired_t_test([PairedScores(0, n * gain, str(i), most=n) for i, gain in enumerate(gains)]).p
        for n in (1.0, 2.0)
    )
    assert of_one == pytest.approx(of_two)


def test_questions_of_an_image_that_change_together_are_worth_one():
    together = [PairedScores(n // 10 % 2, 1 - n // 10 % 2, str(n // 10)) for n in range(1000)]
    assert change_variance(together) == pytest.approx(10)
