"""Means and their intervals, against closed forms, simulations and calculations by hand."""

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


def ratio_of_sums(sums):
    return sums[:, 0] / sums[:, 1]


def with_counts(values):
    """Each value with the count 1, so that the ratio of sums is the mean."""
    return np.stack([values, np.ones(len(values))], axis=1)


def test_the_jackknife_interval_of_a_mean_is_students():
    interval = jackknife_interval(with_counts(VALUES), list("abcdef"), ratio_of_sums, np.inf)
    half = t.ppf(0.975, 5) * VALUES.std(ddof=1) / np.sqrt(6)
    assert interval == pytest.approx((0.4 - half, 0.4 + half), rel=0.01)


def test_two_equal_captions_of_each_image_have_the_interval_of_one():
    interval_of_one = jackknife_interval(with_counts(VALUES), list("abcdef"), ratio_of_sums, 1.0)
    interval_of_two = jackknife_interval(
        with_counts(np.repeat(VALUES, 2)), list("aabbccddeeff"), ratio_of_sums, 1.0
    )
    assert interval_of_two == pytest.approx(interval_of_one)


def test_the_jackknife_interval_of_a_ratio_is_the_delta_methods():
    """Words over words: the error of a ratio (Cochran, *Sampling Techniques*, 6.4)."""
    rng = np.random.default_rng(0)
    n_words = rng.integers(5, 15, 400).astype(float)
    n_wrong = rng.binomial(n_words.astype(int), 0.3)
    ratio = n_wrong.sum() / n_words.sum()
    residuals = (n_wrong - ratio * n_words) / n_words.sum()
    half = t.ppf(0.975, 399) * np.sqrt(400 / 399 * (residuals**2).sum())
    sums, clusters = np.stack([n_wrong, n_words], axis=1), [str(n) for n in range(400)]
    interval = jackknife_interval(sums, clusters, ratio_of_sums, np.inf)
    assert interval == pytest.approx((ratio - half, ratio + half), rel=1e-3)


@pytest.mark.parametrize("clusters", [["a"], ["a", "a"]], ids=["one caption", "one image"])
def test_the_jackknife_interval_of_one_cluster_is_nan(clusters):
    sums = with_counts(VALUES[: len(clusters)])
    assert np.isnan(jackknife_interval(sums, clusters, ratio_of_sums, 1.0)).all()


# What uneven clusters add to a mean: CR2 and Satterthwaite's degrees of freedom, by hand.


def satterthwaite(sizes):
    """(tr B)^2 / tr B^2 of the adjusted residuals' covariance, as a matrix."""
    sizes = np.array(sizes, float)
    total = sizes.sum()
    residuals = np.eye(len(sizes)) - np.outer(sizes, np.ones(len(sizes))) / total
    adjustment = np.diag(1 / np.sqrt(1 - sizes / total))
    covariance = adjustment @ residuals @ np.diag(sizes) @ residuals.T @ adjustment
    return np.trace(covariance) ** 2 / np.sum(covariance**2)


@pytest.mark.parametrize(
    "sizes",
    [[1, 1], [5, 1], [7] * 9, [60, *[1] * 60], [60 // k for k in range(1, 31)]],
    ids=["two equal", "5 and 1", "nine equal", "60 beside 60 singles", "60, 30, 20, ..."],
)
def test_the_freedom_of_uneven_clusters_is_satterthwaites(sizes):
    freedom = satterthwaite_freedom(np.array(sizes) / sum(sizes))
    assert freedom == pytest.approx(satterthwaite(sizes))


def test_one_cluster_has_one_degree_of_freedom():
    assert satterthwaite_freedom(np.array([1.0])) == 1
    assert satterthwaite_freedom(np.array([0.0, 1.0])) == 1


@pytest.mark.parametrize(
    ("sizes", "warning"),
    [
        pytest.param([1] * 8, "", id="few independent units"),
        pytest.param([2] * 8, "only 8 effective clusters", id="few"),
        pytest.param([60, *[1] * 60], "only 3.9 effective clusters", id="few, and one dominates"),
        pytest.param([2] * 10, "", id="ten equal ones"),
        # 0.2^2 + 80 x 0.01^2 = 0.048: 20.8 effective ones
        pytest.param([20, *[1] * 80], "one cluster has 20 % of the weight", id="a fifth"),
        pytest.param([10, *[1] * 90], "one cluster has 10 % of the weight", id="a tenth"),
        pytest.param([9, *[1] * 91], "", id="less than a tenth"),
        pytest.param([2, *[1] * 14], "", id="an eighth, 1.8 times an equal one"),
    ],
)
def test_a_warning_names_few_clusters_or_one_that_dominates(sizes, warning):
    interval = mean(ScoredPoint(0.5, str(n)) for n, size in enumerate(sizes) for _ in range(size))
    counts: Any = SimpleNamespace(**interval._asdict())
    assert cluster_warning(counts) == warning


def test_the_interval_of_a_change_over_uneven_clusters_is_that_by_hand():
    """Ten of 20, none of 10 and of 10 gained: residuals 5, -2.5, -2.5; leverage 1/2, 1/4, 1/4.

    The variance is (25 / (1/2) + 2 * 6.25 / (3/4)) / 1600 = 1/24. No share changes by more than 1.
    """
    half_gained = [PairedScores(before=0, after=n < 10, cluster="a") for n in range(20)]
    unchanged = [PairedScores(before=0, after=0, cluster=cluster) for cluster in "bc" * 10]
    half = t.ppf(0.975, satterthwaite([2, 1, 1])) * (1 / 24) ** 0.5
    assert 0.25 + half > 1
    interval = change_interval(half_gained + unchanged)
    assert interval == pytest.approx((0.25 - half, 1.0), rel=1e-3)


def test_other_names_of_clusters_change_no_digit():
    rng = random.Random(1)
    points = [ScoredPoint(rng.random(), f"c{rng.randrange(9)}", weight=2) for _ in range(50)]
    renamed = [point._replace(cluster=point.cluster * 3) for point in points]
    assert mean(renamed) == mean(points)


@pytest.mark.parametrize(("accuracy", "percent"), [(0.6, 93.6), (0.8, 97.9)])
def test_the_coverage_of_25_independent_questions_is_that_of_the_documentation(accuracy, percent):
    """A binomial sum; docs/statistics.md states both percentages."""
    intervals = [mean(ScoredPoint(float(n < n_right)) for n in range(25)) for n_right in range(26)]
    covers = [interval.low <= accuracy <= interval.high for interval in intervals]
    assert 100 * binom.pmf(range(26), 25, accuracy) @ covers == pytest.approx(percent, abs=0.05)


def coverage(sizes, correlation, accuracy, repetitions=400):
    """Percentage of simulated intervals over correlated clusters that hold the true accuracy."""
    rng = np.random.default_rng(3)
    concentration = (1 - correlation) / correlation
    n_covering = 0
    for _ in range(repetitions):
        accuracies = rng.beta(accuracy * concentration, (1 - accuracy) * concentration, len(sizes))
        points = []
        for cluster, n_right in enumerate(rng.binomial(sizes, accuracies)):
            points += [ScoredPoint(float(n < n_right), str(cluster)) for n in range(sizes[cluster])]
        interval = mean(points)
        n_covering += interval.low <= accuracy <= interval.high
    return 100 * n_covering / repetitions


TWO_LARGE = [30, 30, *[1] * 60]
SKEWED = [14, 12, 10, 8, 7, 6, 5, 5, 4, 4, 3, 3, 3, *[2] * 8, *[1] * 20]


@pytest.mark.parametrize(
    ("sizes", "correlation", "accuracy", "most"),
    [
        pytest.param([60, *[1] * 60], 0.3, 0.6, 100, id="60 beside 60 singles: 78.6 with k - 1"),
        pytest.param(TWO_LARGE, 0.9, 0.6, 97.5, id="two of 30, nearly as one: 90.5 by CR2 alone"),
        pytest.param(SKEWED, 0.95, 0.9, 97.5, id="14, 12, 10 ...: 88.4 by CR2 alone"),
    ],
)
def test_intervals_over_uneven_clusters_cover_the_true_accuracy(sizes, correlation, accuracy, most):
    # 95 % less two standard errors of 400 repetitions
    assert 92.5 <= coverage(sizes, correlation, accuracy) <= most


# Intervals of measures that are no means, and the quantile they take: by hand.


def test_the_delta_method_sums_the_influence_of_clusters():
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
def test_without_freedom_to_vary_the_interval_is_nan(names, freedom):
    low, high = delta_method_interval(0.5, dict.fromkeys(names, 0.0), top=1, freedom=freedom)
    assert isnan(low)
    assert isnan(high)


def test_a_measure_out_of_its_range_has_the_interval_of_the_nearest_end():
    def interval(value):
        return delta_method_interval(value, {"a": 0.0, "b": 0.0}, top=1, freedom=1)

    assert interval(1.2) == interval(1.0)
    assert interval(-0.2) == interval(0.0)


# Intervals of means over groups: variances by hand, Wilson's interval with Student's t.


def wilson(value, variance, freedom):
    """Wilson's interval of as many units as give the mean this variance."""
    quantile = approximate_t_quantile(freedom)
    # The quantile's square over the number of units, which is value * (1 - value) / variance.
    shrinkage = quantile**2 * variance / (value * (1 - value))
    centre = (value + shrinkage / 2) / (1 + shrinkage)
    under_root = variance + shrinkage * variance / (4 * value * (1 - value))
    half = quantile / (1 + shrinkage) * sqrt(under_root)
    return centre - half, centre + half


def ten_clusters(group):
    """Points of ten clusters: eight at 0.5, one at 0 and one at 1."""
    values = [0.5] * 8 + [0.0, 1.0]
    return [ScoredPoint(value, f"{group}{n}") for n, value in enumerate(values)]


# Two clusters move the mean by 0.5 / 10: 10/9 * 2 * 0.05^2. Besides, 0.2 of a cluster may go the
# other way, over the half that may be wrong: 0.2 * 0.25 * 10 * 0.1^2 / 9; in 10 + 0.2 clusters.
OF_TEN = 10 / 9 * 0.005
VARIANCES = [
    pytest.param([ten_clusters("a")], (OF_TEN + 0.005 / 9) * 10 / 10.2, 9, id="one group"),
    pytest.param(
        [ten_clusters("a"), ten_clusters("a")],
        (OF_TEN + 0.005 / 9) * 10 / 10.2,
        9,
        id="the same clusters in two groups tell no more",
    ),
    pytest.param(
        [ten_clusters("a"), ten_clusters("b")],
        (OF_TEN / 2 + 0.0025 / 19) * 20 / 20.2,
        18,
        id="two groups, of each of which a mean was estimated",
    ),
    pytest.param(
        # Its share is a half: 0.5^2 times 0.25, as of one unit that may be right or wrong.
        [ten_clusters("a"), [ScoredPoint(0.5)]],
        (OF_TEN / 4 + 0.05 * (10 * 0.05**2 + 0.25) / 10) * 11 / 11.2 + 0.0625,
        9,
        id="of a group with one cluster nobody knows the spread",
    ),
    pytest.param(
        # Two moves of 0.125: 2/1 * 2 * 0.125^2; and 0.2 * 0.25 * 2 * 0.5^2 / 1, in 2.2 clusters.
        [[ScoredPoint(0.25), ScoredPoint(0.75)]],
        (0.0625 + 0.025) * 2 / 2.2,
        1,
        id="two clusters have one degree of freedom",
    ),
    pytest.param(
        # Moves squared: (1/6)^2 / (1/3) + 2 * (1/12)^2 / (5/6) = 1/10. In the model a unit has the
        # variance 1/3, of which 1/4 is within clusters: a correlation of 1/4. The mean then has
        # 1/3 * ((2/3)^2 * (1/4 + 3/4 / 4) + 2 * (1/6)^2) = 1/12.
        # A common weight cancels.
        [[ScoredPoint(float(n < 3), "aaaabc"[n], weight=2) for n in range(6)]],
        (0.8 / 10 + 0.2 / 12 + 0.025 / 2) * 3 / 3.2,
        2,
        id="uneven clusters take a fifth of the variance from a common correlation",
    ),
]


@pytest.mark.parametrize(("groups", "variance", "freedom"), VARIANCES)
def test_intervals_of_a_macro_mean_are_wilsons_of_the_variance_by_hand(groups, variance, freedom):
    interval = macro_mean(groups)
    assert (interval.low, interval.high) == pytest.approx(wilson(0.5, variance, freedom))


def independent_points(values):
    return [ScoredPoint(value) for value in values]


@pytest.mark.parametrize("values", [[], [None, None]], ids=["no units", "two unscored"])
def test_a_mean_without_points_is_nan(values):
    interval = mean(independent_points(values))
    assert isnan(interval.value)
    assert isnan(interval.low)
    assert isnan(interval.high)
    assert (interval.n_scored, interval.n_unscored) == (0, len(values))


def test_weights_are_shares_of_the_mean():
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
def test_the_interval_of_a_mean_is_wilsons(values, low, high):
    interval = mean(independent_points(values))
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-4)


@pytest.mark.parametrize(
    ("scored", "low", "high"),
    [
        # 0.5 with a variance of 2/1 * (0.25² + 0.25²) = 0.25, as of 1 unit; Wilson for 0.5 of 1:
        # 0.5 -+ 1.96 / 4.8415 * sqrt(0.25 + 0.9604).
        pytest.param([(1, "a"), (0, "b")], 0.0546, 0.9454, id="one right, one wrong"),
        pytest.param(
            [(1, "a"), (1, "a"), (0, "b"), (0, "b")],
            0.0546,
            0.9454,
            id="two points of each add nothing",
        ),
        # No variation: Wilson for 2 of 2 is 1 / (1 + 1.96² / 2), for 1 of 1 1 / (1 + 1.96²).
        pytest.param([(1, "a"), (1, "b")], 0.3424, 1.0, id="both right"),
        pytest.param([(1, "a"), (1, "a")], 0.2065, 1.0, id="one cluster, all right"),
        pytest.param([(1, "a"), (0, "a")], 0.0546, 0.9454, id="one cluster, half right"),
    ],
)
def test_intervals_over_one_and_two_clusters_are_wilsons(scored, low, high):
    interval = mean([ScoredPoint(float(value), cluster) for value, cluster in scored])
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-4)


@given(st.lists(st.tuples(st.sampled_from([None, 0.0, 0.5, 1.0]), st.sampled_from("abcd"))))
def test_an_interval_lies_in_the_unit_range_around_its_value(scored):
    interval = mean([ScoredPoint(value, cluster) for value, cluster in scored])
    assert interval.n_scored + interval.n_unscored == len(scored)
    assert isnan(interval.value) == (interval.n_scored == 0)
    assert isnan(interval.value) or 0 <= interval.low <= interval.value <= interval.high <= 1


@pytest.mark.parametrize("n", [16, 40, 46, 54])
def test_the_interval_of_all_right_ends_at_one(n):
    """For these counts the formula is rounded to 1.0000000000000002."""
    assert mean([ScoredPoint(1.0, str(i)) for i in range(n)]).high == 1


def test_a_macro_mean_counts_each_group_the_same():
    interval = macro_mean(
        [
            independent_points([1.0, 1.0, 1.0]),
            independent_points([0.0]),
            independent_points([None, 0.5]),
        ]
    )
    assert interval.value == 0.5  # (1 + 0 + 0.5) / 3
    assert (interval.n_scored, interval.n_unscored) == (5, 1)


def test_a_macro_mean_of_right_points_counts_its_effective_units():
    # Shares of the mean are 1/6 three times and 1/2: 1 / (3/36 + 1/4) = 3 units, not 4. Wilson for
    # all of 3 is 3 / (3 + 1.96^2).
    assert macro_mean(
        [independent_points([1.0] * 3), independent_points([1.0])]
    ).low == pytest.approx(0.4385, abs=1e-4)


def test_a_weighted_mean_of_right_points_counts_each_point():
    # Wilson for 2 of 2 is 2 / (2 + 1.96^2).
    interval = mean([ScoredPoint(1.0, weight=3), ScoredPoint(1.0)])
    assert interval.low == pytest.approx(0.3424, abs=1e-4)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 9, 30, 1000])
def test_the_approximate_quantile_is_near_students(freedom):
    quantile = t.ppf(0.975, freedom)  # the first term left out is 1.6 / freedom^4
    assert approximate_t_quantile(freedom) == pytest.approx(quantile, rel=0, abs=2 / freedom**4)


@pytest.mark.parametrize("value", [0.0, 0.3, 0.5, 0.9, 1.0])
def test_a_measure_up_to_ten_has_ten_times_the_interval_of_one_up_to_one(value):
    spread = {"a": 0.1, "b": -0.04, "c": -0.05, "d": -0.01}
    shares = delta_method_interval(value, spread, top=1, freedom=3)
    tenfold_spread = {cluster: 10 * move for cluster, move in spread.items()}
    tens = delta_method_interval(10 * value, tenfold_spread, top=10, freedom=3)
    assert tens == pytest.approx([10 * bound for bound in shares])


def test_a_measure_of_two_clusters_has_a_wide_interval():
    # The variance is 2/1 * (0.25^2 + 0.25^2) = 0.25, as of 1 unit; with 1 degree of freedom
    # Student's quantile q is 12.706, and Wilson's half for 0.5 of 1 is q / 2 / sqrt(1 + q^2).
    half = 12.706 / 2 / sqrt(1 + 12.706**2)
    interval = delta_method_interval(0.5, {"a": 0.25, "b": -0.25}, top=1, freedom=1)
    assert interval == pytest.approx((0.5 - half, 0.5 + half))


@pytest.mark.parametrize(
    "groups",
    [[], [independent_points([1.0]), []], [independent_points([1.0]), independent_points([None])]],
    ids=["no group", "a group without units", "a group without points"],
)
def test_a_macro_mean_without_points_of_each_group_is_nan(groups):
    assert isnan(macro_mean(groups).value)
