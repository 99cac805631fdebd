"""Intervals of corpora: of a mean it is the mean's own, of all else what closed forms say."""

import numpy as np
import pytest
from scipy.stats import t

from bench_assets.core.stats.means import jackknife_interval

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
