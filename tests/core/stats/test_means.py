"""Intervals of corpora: of a mean it is the mean's own, of all else what closed forms say."""

import random
from math import inf, isnan, sqrt
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom, t

from bench_assets.core.schema.metric_text import cluster_warning
from bench_assets.core.stats.means import (
    ScoredPoint,
    approximate_t_quantile,
    around,
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
    found = jackknife_interval(parts(VALUES), list("abcdef"), of_mean, np.inf)
    half = t.ppf(0.975, 5) * VALUES.std(ddof=1) / np.sqrt(6)
    assert found == pytest.approx((0.4 - half, 0.4 + half), rel=0.01)


def test_it_stays_between_nothing_and_the_most_there_is():
    low, high = jackknife_interval(parts(10 * VALUES), list("abcdef"), of_mean, 10.0)
    assert 0 <= low < 4 < high <= 10
    once = jackknife_interval(parts(VALUES), list("abcdef"), of_mean, 1.0)
    assert (low / 10, high / 10) == pytest.approx(once)


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


def test_of_two_clusters_it_is_students_with_one_degree_of_freedom():
    # 0.1 and 0.4: each moves the mean by 0.075, variance 2/1 * 2 * 0.075^2 = 0.0225.
    found = jackknife_interval(parts(VALUES[:2]), ["a", "b"], of_mean, np.inf)
    assert found == pytest.approx((0.0, 0.25 + 12.706 * 0.15))  # 0.25 - 1.906 is below nothing


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
    ("sizes", "effective"), [([1] * 8, 8), ([60, *[1] * 60], 120**2 / 3660), ([3, 1], 1.6)]
)
def test_the_effective_number_of_clusters_counts_equal_ones(sizes, effective):
    points = [ScoredPoint(0.5, str(n)) for n, size in enumerate(sizes) for _ in range(size)]
    assert mean(points).n_clusters == pytest.approx(effective)
    assert macro_mean([points, points]).n_clusters == pytest.approx(effective)


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
    found = mean(ScoredPoint(0.5, str(n)) for n, size in enumerate(sizes) for _ in range(size))
    assert cluster_warning(SimpleNamespace(**found._asdict())) == warning


def test_a_change_over_uneven_clusters_by_pencil():
    """Ten of 20, none of 10 and of 10 gained: residuals 5, -2.5, -2.5; leverage 1/2, 1/4, 1/4.

    The variance is (25 / (1/2) + 2 * 6.25 / (3/4)) / 1600 = 1/24. No share changes by more than 1.
    """
    half_of = [PairedScores(0, float(n < 10), "a") for n in range(20)]
    low, high = change_interval([*half_of, *[PairedScores(0, 0, name) for name in "bc" * 10]])
    half = t.ppf(0.975, satterthwaite([2, 1, 1])) * (1 / 24) ** 0.5
    assert 0.25 + half > 1
    assert (low, high) == pytest.approx((0.25 - half, 1.0), rel=1e-3)


def test_a_mean_of_many_is_the_closed_form():
    """Half are right: Wilson's interval, on n - 1 units as the variance was estimated."""
    points = [ScoredPoint(float(n % 2)) for n in range(40_000)]
    n, units, z2 = len(points), len(points) - 1, 1.959963984540054**2
    half = (z2 / (4 * units) * (1 + z2 / units)) ** 0.5 / (1 + z2 / units)
    found = mean(iter([*points, ScoredPoint(None)]))
    assert (found.value, found.n_scored, found.n_unscored) == (0.5, n, 1)
    assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-12)


def test_no_order_of_points_and_no_name_of_a_cluster_changes_a_digit():
    rng = random.Random(1)
    points = [ScoredPoint(rng.random(), f"c{rng.randrange(9)}", 2.0) for _ in range(50)]
    turned = [one._replace(cluster=one.cluster * 3) for one in points]
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
        found = mean(points)
        held += found.low <= right <= found.high
    return 100 * held / repetitions


FALLING = [60 // k for k in range(1, 31)]
TWO = [30, 30, *[1] * 60]
SKEWED = [14, 12, 10, 8, 7, 6, 5, 5, 4, 4, 3, 3, 3, *[2] * 8, *[1] * 20]


@pytest.mark.parametrize(
    ("sizes", "together", "right", "high"),
    [
        pytest.param([60, *[1] * 60], 0.3, 0.6, 100, id="60 beside 60 singles: 78.6 with k - 1"),
        pytest.param(FALLING, 0.3, 0.6, 97.5, id="60/k: 89.9 with k - 1"),
        pytest.param(TWO, 0.3, 0.6, 97.5, id="two of 30 beside 60 singles"),
        pytest.param(TWO, 0.9, 0.6, 97.5, id="two of 30, as a whole: 90.5 by CR2 alone"),
        pytest.param(SKEWED, 0.95, 0.9, 97.5, id="14, 12, 10 ...: 88.4 by CR2 alone"),
    ],
)
def test_intervals_over_uneven_clusters_hold_the_truth(sizes, together, right, high):
    assert 92.5 <= coverage(sizes, together, right) <= high  # two standard errors of 400 wider


# Intervals of measures that are no means, and the quantile they take: by pencil.


def test_each_cluster_counts_as_its_share_of_those_there_are():
    # Variance 3/2 * (0.3^2 + 0.1^2 + 0.2^2) = 0.21; Student's quantile with 2 degrees is 4.303.
    found = around(40.0, {"a": 0.3, "b": -0.1, "c": -0.2}, top=inf, freedom=2)
    assert found == pytest.approx((40 - 4.303 * sqrt(0.21), 40 + 4.303 * sqrt(0.21)))


@pytest.mark.parametrize(
    ("names", "freedom"),
    [
        pytest.param("a", 3, id="one cluster, whatever its freedom"),
        pytest.param("abcde", 0, id="as many estimates as clusters"),
    ],
)
def test_where_nothing_is_free_to_vary_nobody_knows_the_ends(names, freedom):
    assert all(map(isnan, around(0.5, dict.fromkeys(names, 0.0), top=1, freedom=freedom)))


def test_a_measure_beyond_its_most_is_taken_for_the_most():
    still = {"a": 0.0, "b": 0.0}
    assert around(1.2, still, top=1, freedom=1) == around(1.0, still, top=1, freedom=1)
    assert around(-0.2, still, top=1, freedom=1) == around(0.0, still, top=1, freedom=1)


@pytest.mark.parametrize("freedom", [30, 100, 1000])
def test_three_terms_of_the_series_leave_what_the_fourth_would_add(freedom):
    # (79 Z^9 + 776 Z^7 + 1482 Z^5 - 1920 Z^3 - 945 Z) / 92160 is 1.6, over freedom^4.
    assert approximate_t_quantile(freedom) == pytest.approx(
        t.ppf(0.975, freedom), abs=2 / freedom**4, rel=0
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
    found = macro_mean(groups)
    assert (found.low, found.high) == pytest.approx(wilson(0.5, variance, freedom))


def test_two_groups_of_the_same_clusters_are_as_one():
    twice, once = macro_mean([mixed("a"), mixed("a")]), mean(mixed("a"))
    assert (twice.low, twice.high) == pytest.approx((once.low, once.high))
