"""Intervals of means over groups: variances by pencil, Wilson's interval with Student's t."""

from math import sqrt

import pytest

from bench_assets.core.stats.means import ScoredPoint, approximate_t_quantile, macro_mean, mean


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
