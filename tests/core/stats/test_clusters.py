"""What uneven clusters add to a mean: CR2 and Satterthwaite's degrees of freedom, by pencil."""

import random
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom, t

from bench_assets.core.schema.rows import cluster_warning
from bench_assets.core.stats.means import ScoredPoint, macro_mean, mean, satterthwaite_freedom
from bench_assets.core.stats.paired_tests import PairedScores, change_interval


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
