"""Intervals of corpora: of a mean it is the mean's own, of all else what closed forms say."""

import random
from math import inf, isnan, sqrt
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, t

from bench_assets.core.schema.metric_text import cluster_warning
from bench_assets.core.stats.means import (
    ScoredPoint,
    approximate_t_quantile,
    delta_method_interval,
    jackknife_interval,
    macro_mean,
    mean,
    satterthwaite_freedom,
)
from bench_assets.core.stats.paired_tests import PairedScores, change_interval

VALUES = np.array([0.1, 0.4, 0.5, 0.8, 0.2, 0.4])


def of_mean(sums):
    return sums[:, 0] / sums[:, 1]


def parts(values):
    return np.stack([values, np.ones(len(values))], axis=1)


def test_of_a_mean_without_a_top_it_is_students():
    interval = jackknife_interval(parts(VALUES), list("abcdef"), of_mean, np.inf)
    half = t.ppf(0.975, 5) * VALUES.std(ddof=1) / np.sqrt(6)
    assert interval == pytest.approx((0.4 - half, 0.4 + half), rel=0.01)


def test_captions_of_one_image_are_one():
    twice = jackknife_interval(parts(np.repeat(VALUES, 2)), list("aabbccddeeff"), of_mean, 1.0)
    assert twice == pytest.approx(jackknife_interval(parts(VALUES), list("abcdef"), of_mean, 1.0))


def test_of_a_ratio_it_is_the_delta_methods():
    """Words over words: the error of a ratio (Cochran, *Sampling Techniques*, 6.4)."""
    rng = np.random.default_rng(0)
    whole = rng.integers(5, 15, 400).astype(float)
    given = np.stack([rng.binomial(whole.astype(int), 0.3), whole], axis=1)
    ratio = given[:, 0].sum() / given[:, 1].sum()
    off = (given[:, 0] - ratio * given[:, 1]) / given[:, 1].sum()
    half = t.ppf(0.975, 399) * np.sqrt(400 / 399 * (off**2).sum())
    low, high = jackknife_interval(given, [str(n) for n in range(400)], of_mean, np.inf)
    assert (low, high) == pytest.approx((ratio - half, ratio + half), rel=1e-3)


@pytest.mark.parametrize("clusters", [["a"], ["a", "a"]], ids=["one caption", "one image"])
def test_of_one_cluster_nothing_is_known(clusters):
    assert np.isnan(
        jackknife_interval(parts(VALUES[: len(clusters)]), clusters, of_mean, 1.0)
    ).all()


# What uneven clusters add to a mean: CR2 and Satterthwaite's degrees of freedom, by pencil.


def satterthwaite(sizes):
    """(tr B)^2 / tr B^2 of the adjusted residuals' covariance, as a matrix."""
    sizes = np.array(sizes, float)
    total = sizes.sum()
    away = np.eye(len(sizes)) - np.outer(sizes, np.ones(len(sizes))) / total
    adjusted = np.diag(1 / np.sqrt(1 - sizes / total))
    covariance = adjusted @ away @ np.diag(sizes) @ away.T @ adjusted
    return np.trace(covariance) ** 2 / np.sum(covariance**2)


@pytest.mark.parametrize(
    "sizes", [[1, 1], [5, 1], [7] * 9, [60, *[1] * 60], [60 // k for k in range(1, 31)]]
)
def test_the_freedom_of_uneven_clusters_is_satterthwaites(sizes):
    assert satterthwaite_freedom(np.array(sizes) / sum(sizes)) == pytest.approx(
        satterthwaite(sizes)
    )


def test_one_cluster_has_the_least_freedom():
    assert (
        satterthwaite_freedom(np.array([1.0])) == satterthwaite_freedom(np.array([0.0, 1.0])) == 1
    )


@pytest.mark.parametrize(
    ("sizes", "warning"),
    [
        pytest.param([1] * 8, "only 8 effective clusters", id="few"),
        pytest.param([60, *[1] * 60], "only 3.9 effective clusters", id="few, and one dominates"),
        pytest.param([1] * 10, "", id="ten equal ones"),
        # 0.2^2 + 80 x 0.01^2 = 0.048: 20.8 effective ones
        pytest.param([20, *[1] * 80], "one cluster has 20 % of the weight", id="a fifth"),
        pytest.param([10, *[1] * 90], "one cluster has 10 % of the weight", id="a tenth"),
        pytest.param([9, *[1] * 91], "", id="less than a tenth"),
        pytest.param([2, *[1] * 14], "", id="an eighth, 1.8 times an equal one"),
    ],
)
def test_few_clusters_and_one_that_dominates_are_warned_of(sizes, warning):
    interval = mean(ScoredPoint(0.5, str(n)) for n, size in enumerate(sizes) for _ in range(size))
    counts: Any = SimpleNamespace(**interval._asdict())
    assert cluster_warning(counts) == warning


def test_a_change_over_uneven_clusters_by_pencil():
    """Ten of 20, none of 10 and of 10 gained: residuals 5, -2.5, -2.5; leverage 1/2, 1/4, 1/4.

    The variance is (25 / (1/2) + 2 * 6.25 / (3/4)) / 1600 = 1/24. No share changes by more than 1.
    """
    half_of = [PairedScores(0, float(n < 10), "a") for n in range(20)]
    low, high = change_interval([*half_of, *[PairedScores(0, 0, name) for name in "bc" * 10]])
    half = t.ppf(0.975, satterthwaite([2, 1, 1])) * (1 / 24) ** 0.5
    assert 0.25 + half > 1
    assert (low, high) == pytest.approx((0.25 - half, 1.0), rel=1e-3)


def test_no_order_of_points_and_no_name_of_a_cluster_changes_a_digit():
    rng = random.Random(1)
    points = [ScoredPoint(rng.random(), f"c{rng.randrange(9)}", 2.0) for _ in range(50)]
    turned = [point._replace(cluster=point.cluster * 3) for point in points]
    assert mean(points)[1:] == mean(turned)[1:]


@pytest.mark.parametrize(("rate", "right"), [(0.6, 93.6), (0.8, 97.9)])
def test_counts_alone_move_the_coverage_of_few_questions(rate, right):
    """Of 25 independent questions, a binomial sum; docs/statistics.md has both ends."""
    counts = [[ScoredPoint(float(n < k)) for n in range(25)] for k in range(26)]
    held = [found.low <= rate <= found.high for found in map(mean, counts)]
    assert 100 * binom.pmf(range(26), 25, rate) @ held == pytest.approx(right, abs=0.05)


def coverage(sizes, together=0.3, right=0.6, repetitions=400):
    """How often in 100 the interval holds the truth, where clusters correlate."""
    rng = np.random.default_rng(3)
    k = (1 - together) / together
    held = 0
    for _ in range(repetitions):
        easy = rng.beta(right * k, (1 - right) * k, len(sizes))
        points = [
            ScoredPoint(float(n < of), str(c))
            for c, (of, size) in enumerate(zip(rng.binomial(sizes, easy), sizes, strict=True))
            for n in range(size)
        ]
        interval = mean(points)
        held += interval.low <= right <= interval.high
    return 100 * held / repetitions


TWO = [30, 30, *[1] * 60]
SKEWED = [14, 12, 10, 8, 7, 6, 5, 5, 4, 4, 3, 3, 3, *[2] * 8, *[1] * 20]


@pytest.mark.parametrize(
    ("sizes", "together", "right", "high"),
    [
        pytest.param([60, *[1] * 60], 0.3, 0.6, 100, id="60 beside 60 singles: 78.6 with k - 1"),
        pytest.param(TWO, 0.9, 0.6, 97.5, id="two of 30, as a whole: 90.5 by CR2 alone"),
        pytest.param(SKEWED, 0.95, 0.9, 97.5, id="14, 12, 10 ...: 88.4 by CR2 alone"),
    ],
)
def test_intervals_over_uneven_clusters_hold_the_truth(sizes, together, right, high):
    assert 92.5 <= coverage(sizes, together, right) <= high  # two standard errors of 400 wider


# Intervals of measures that are no means, and the quantile they take: by pencil.


def test_each_cluster_counts_as_its_share_of_those_there_are():
    # Variance 3/2 * (0.3^2 + 0.1^2 + 0.2^2) = 0.21; Student's quantile with 2 degrees is 4.303.
    interval = delta_method_interval(40.0, {"a": 0.3, "b": -0.1, "c": -0.2}, top=inf, freedom=2)
    assert interval == pytest.approx((40 - 4.303 * sqrt(0.21), 40 + 4.303 * sqrt(0.21)))


@pytest.mark.parametrize(
    ("names", "freedom"),
    [
        pytest.param("a", 3, id="one cluster, whatever its freedom"),
        pytest.param("abcde", 0, id="as many estimates as clusters"),
    ],
)
def test_where_nothing_is_free_to_vary_nobody_knows_the_ends(names, freedom):
    assert all(
        map(isnan, delta_method_interval(0.5, dict.fromkeys(names, 0.0), top=1, freedom=freedom))
    )


def test_a_measure_beyond_its_most_is_taken_for_the_most():
    still = {"a": 0.0, "b": 0.0}
    assert delta_method_interval(1.2, still, top=1, freedom=1) == delta_method_interval(
        1.0, still, top=1, freedom=1
    )
    assert delta_method_interval(-0.2, still, top=1, freedom=1) == delta_method_interval(
        0.0, still, top=1, freedom=1
    )


# Intervals of means over groups: variances by pencil, Wilson's interval with Student's t.


def wilson(value, variance, freedom):
    """Of as many units as have this variance."""
    quantile = approximate_t_quantile(freedom)
    part = quantile**2 * variance / (value * (1 - value))  # of the quantile's square, over units
    centre = (value + part / 2) / (1 + part)
    half = quantile / (1 + part) * sqrt(variance + part * variance / (4 * value * (1 - value)))
    return centre - half, centre + half


def mixed(group):
    """Ten clusters, of which two are 0.5 off their mean of 0.5: a spread that is worth 4 units."""
    values = [0.5] * 8 + [0.0, 1.0]
    return [ScoredPoint(value, f"{group}{number}") for number, value in enumerate(values)]


# Two moves of 0.5 / 10, variance 10/9 * 2 * 0.05^2; and of a tenth of a cluster that goes the other
# way, over the half that may be wrong: 0.2 * 0.25 * 10 * 0.1^2 / 9; in 10 + 0.2 clusters.
OF_TEN = 10 / 9 * 0.005
CASES = [
    pytest.param([mixed("a")], (OF_TEN + 0.005 / 9) * 10 / 10.2, 9, id="one group"),
    pytest.param(
        [mixed("a"), mixed("a")],
        *((OF_TEN + 0.005 / 9) * 10 / 10.2, 9),
        id="the same clusters in two groups tell no more",
    ),
    pytest.param(
        [mixed("a"), mixed("b")],
        *((OF_TEN / 2 + 0.0025 / 19) * 20 / 20.2, 18),
        id="two groups, of each of which a mean was estimated",
    ),
    pytest.param(
        # Its share is a half: 0.5^2 times 0.25, as of one unit that may be right or wrong.
        [mixed("a"), [ScoredPoint(0.5)]],
        *((OF_TEN / 4 + 0.05 * (10 * 0.05**2 + 0.25) / 10) * 11 / 11.2 + 0.0625, 9),
        id="of a group with one cluster nobody knows the spread",
    ),
    pytest.param(
        # Two moves of 0.125: 2/1 * 2 * 0.125^2; and 0.2 * 0.25 * 2 * 0.5^2 / 1, in 2.2 clusters.
        [[ScoredPoint(0.25), ScoredPoint(0.75)]],
        *((0.0625 + 0.025) * 2 / 2.2, 1),
        id="two clusters have one degree of freedom",
    ),
]


@pytest.mark.parametrize(("groups", "variance", "freedom"), CASES)
def test_intervals_of_groups_by_pencil(groups, variance, freedom):
    interval = macro_mean(groups)
    assert (interval.low, interval.high) == pytest.approx(wilson(0.5, variance, freedom))


def points(values, cluster=lambda n: ""):
    return [ScoredPoint(value, cluster(n)) for n, value in enumerate(values)]


@pytest.mark.parametrize("values", [[], [None, None]])
def test_an_empty_mean_is_not_a_number_rather_than_zero(values):
    interval = mean(points(values))
    assert isnan(interval.value)
    assert isnan(interval.low)
    assert isnan(interval.high)
    assert (interval.n_scored, interval.n_unscored) == (0, len(values))


def test_weights_are_shares_of_the_mean():
    assert mean([ScoredPoint(1.0, weight=3), ScoredPoint(0.0, weight=1)]).value == 0.75
    assert mean([ScoredPoint(1.0, weight=3), ScoredPoint(0.0)]).value == 0.75


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        # Variance of the mean 10/9 * 10 * 0.05^2 = 1/36, as of 9 units; Wilson for 4.5 of 9.
        pytest.param([1.0, 0.0] * 5, 0.2265, 0.7735, id="five of ten"),
        # No variation: every unit counts; Wilson for 4 of 4 is 1 / (1 + 1.96^2 / 4).
        pytest.param([1.0] * 4, 0.5101, 1.0, id="four of four does not collapse to a point"),
        pytest.param([0.0] * 4, 0.0, 0.4899, id="none of four does not collapse to a point"),
    ],
)
def test_interval_by_pencil(values, low, high):
    interval = mean(points(values))
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-4)


@pytest.mark.parametrize(
    ("seen", "low", "high"),
    [
        # 0.5 with a variance of 2/1 * (0.25² + 0.25²) = 0.25, as of 1 unit; Wilson for 0.5 of 1:
        # 0.5 -+ 1.96 / 4.8415 * sqrt(0.25 + 0.9604).
        pytest.param([(1, "a"), (0, "b")], 0.0546, 0.9454, id="one right, one wrong"),
        pytest.param(
            [(1, "a"), (1, "a"), (0, "b"), (0, "b")], 0.0546, 0.9454, id="two each say no more"
        ),
        # No variation: Wilson for 2 of 2 is 1 / (1 + 1.96² / 2), for 1 of 1 1 / (1 + 1.96²).
        pytest.param([(1, "a"), (1, "b")], 0.3424, 1.0, id="both right"),
        pytest.param([(1, "a"), (1, "a")], 0.2065, 1.0, id="one cluster, all right"),
        pytest.param([(1, "a"), (0, "a")], 0.0546, 0.9454, id="one cluster, half right"),
    ],
)
def test_intervals_over_one_and_two_clusters_by_pencil(seen, low, high):
    interval = mean([ScoredPoint(float(value), cluster) for value, cluster in seen])
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-4)


@given(st.lists(st.tuples(st.sampled_from([None, 0.0, 0.5, 1.0]), st.sampled_from("abcd"))))
def test_an_interval_lies_in_the_unit_range_around_its_value(seen):
    interval = mean([ScoredPoint(value, cluster) for value, cluster in seen])
    assert interval.n_scored + interval.n_unscored == len(seen)
    assert isnan(interval.value) or 0 <= interval.low <= interval.value <= interval.high <= 1


@pytest.mark.parametrize("n", [16, 40, 46, 54])
def test_the_interval_of_all_right_ends_at_one(n):
    """Of these counts the rounded formula gives 1.0000000000000002."""
    assert mean([ScoredPoint(1.0, str(i)) for i in range(n)]).high == 1


def test_a_macro_mean_counts_each_group_the_same():
    interval = macro_mean([points([1.0, 1.0, 1.0]), points([0.0]), points([None, 0.5])])
    assert interval.value == 0.5
    assert (interval.n_scored, interval.n_unscored) == (5, 1)
    assert 0 <= interval.low < interval.value < interval.high <= 1


def test_where_all_are_right_the_least_units_that_groups_can_be_count():
    # Shares of the mean are 1/6 three times and 1/2: 1 / (3/36 + 1/4) = 3 units, not 4. Wilson for
    # all of 3 is 3 / (3 + 1.96^2).
    assert macro_mean([points([1.0] * 3), points([1.0])]).low == pytest.approx(0.4385, abs=1e-4)


def test_where_all_of_one_group_are_right_each_counts_whatever_it_weighs():
    # Wilson for 2 of 2 is 2 / (2 + 1.96^2).
    interval = mean([ScoredPoint(1.0, weight=3), ScoredPoint(1.0)])
    assert interval.low == pytest.approx(0.3424, abs=1e-4)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 9, 30, 1000])
def test_students_quantile(freedom):
    assert approximate_t_quantile(freedom) == pytest.approx(t.ppf(0.975, freedom), rel=0.01)


@pytest.mark.parametrize("value", [0.0, 0.3, 0.5, 0.9, 1.0])
def test_a_measure_up_to_ten_has_ten_times_the_interval_of_one_up_to_one(value):
    spread = {"a": 0.1, "b": -0.04, "c": -0.05, "d": -0.01}
    shares = delta_method_interval(value, spread, top=1, freedom=3)
    tens = delta_method_interval(
        10 * value, {name: 10 * part for name, part in spread.items()}, 10, freedom=3
    )
    assert tens == pytest.approx([10 * end for end in shares])


def test_a_measure_that_only_two_clusters_know_is_hardly_known():
    # The variance is 2/1 * (0.25^2 + 0.25^2) = 0.25, as of 1 unit; with 1 degree of freedom
    # Student's quantile q is 12.706, and Wilson's half for 0.5 of 1 is q / 2 / sqrt(1 + q^2).
    half = 12.706 / 2 / sqrt(1 + 12.706**2)
    interval = delta_method_interval(0.5, {"a": 0.25, "b": -0.25}, top=1, freedom=1)
    assert interval == pytest.approx((0.5 - half, 0.5 + half))


@pytest.mark.parametrize("groups", [[], [points([1.0]), []], [points([1.0]), points([None])]])
def test_a_macro_mean_without_one_of_its_groups_is_not_a_number(groups):
    assert isnan(macro_mean(groups).value)
