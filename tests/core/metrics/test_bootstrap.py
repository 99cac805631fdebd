"""Corpora that are drawn are as large as the one that is there, and made of its parts."""

import numpy as np
import pytest

from bench_assets.core.metrics.bootstrap import drawn_sums, interval


def test_every_corpus_has_as_many_units_and_on_average_their_sum():
    """Ones add up to n in each draw; of 0 and 1 with equal shares, 4 draws make 2 +- 1."""
    parts = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
    drawn = drawn_sums(parts, np.random.default_rng(0))
    assert drawn.shape[1] == 2
    assert set(drawn[:, 0]) == {4.0}
    assert set(drawn[:, 1]) == {0.0, 1.0, 2.0, 3.0, 4.0}
    assert drawn[:, 1].mean() == pytest.approx(2, abs=0.15)
    assert drawn[:, 1].std() == pytest.approx(1, abs=0.1)


def test_an_interval_is_the_middle_95_percent():
    assert interval(np.arange(1001) / 1000) == pytest.approx((0.025, 0.975))
