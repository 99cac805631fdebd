"""Intervals of measures that are no means, and the quantile they take: by pencil."""

from math import inf, isnan, sqrt

import pytest
from scipy.stats import t

from bench_assets.core.stats.means import approximate_t_quantile, around


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
