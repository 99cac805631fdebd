"""Agreement, against numbers from pencil, paper and Krippendorff himself."""

import time
from itertools import permutations
from math import isnan

import pytest

from bench_assets.core.stats.rater_agreement import (
    krippendorff_alpha,
    pairwise_agreement,
    unanimous_share,
)


def units():
    """Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C."""
    observers = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
    return [[v for v in unit if v != "."] for unit in zip(*observers, strict=True)]


def alpha_by_definition(rated):
    """1 - D_o / D_e from a coincidence matrix that is filled pair by pair."""
    coincidences = {}
    for unit in rated:
        for one, other in permutations(unit, 2):
            coincidences[one, other] = coincidences.get((one, other), 0) + 1 / (len(unit) - 1)
    marginals = {}
    for (one, _), n in coincidences.items():
        marginals[one] = marginals.get(one, 0) + n
    total = sum(marginals.values())
    observed = sum(n for (one, other), n in coincidences.items() if one != other)
    expected = sum(marginals[k] * marginals[v] for k, v in permutations(marginals, 2))
    return 1 - observed * (total - 1) / expected


def test_alpha_is_the_one_that_krippendorff_publishes():
    assert round(krippendorff_alpha(units()), 3) == 0.743


def test_alpha_is_the_one_of_a_coincidence_matrix():
    assert krippendorff_alpha(units()) == pytest.approx(alpha_by_definition(units()))


@pytest.mark.parametrize(
    ("rated", "alpha"),
    [
        # n = 4, both values twice: D_o = 2 of 4, D_e = 8 / 3 of 4; alpha = 1 - 4 / (8 / 3).
        pytest.param(["ab", "ab"], -0.5, id="raters who never agree do worse than chance"),
        pytest.param(["aa", "bb", "a"], 1.0, id="a unit with one rater says nothing"),
    ],
)
def test_alpha_by_pencil(rated, alpha):
    assert krippendorff_alpha(rated) == pytest.approx(alpha)


@pytest.mark.parametrize(
    "rated",
    [
        pytest.param([], id="no units"),
        pytest.param(["a", "b", ""], id="no unit with two raters"),
        pytest.param(["aa", "aaa"], id="only one value, so that no disagreement is expected"),
    ],
)
def test_alpha_of_nothing_to_compare_is_nan(rated):
    assert isnan(krippendorff_alpha(rated))


def test_alpha_of_many_different_texts_takes_little_time():
    rated = [[f"a caption {n}", f"another {n}"] for n in range(16_000)]
    started = time.process_time()  # s of CPU: how busy the machine is does not matter
    # No two of 32,000 values are alike: D_o is 1, and so is D_e of pairs of values.
    assert krippendorff_alpha(rated) == pytest.approx(0.0)
    assert time.process_time() - started < 3  # what is quadratic takes 40 s


def test_shares_by_pencil():
    rated = ["aaaa", "aaab", "aabb", "a"]  # pairs that agree: 6/6, 3/6, 2/6
    assert unanimous_share(rated) == pytest.approx(1 / 3)
    assert pairwise_agreement(rated) == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)


def test_shares_of_nothing_are_nan():
    assert isnan(unanimous_share(["a"]))
    assert isnan(pairwise_agreement([]))
