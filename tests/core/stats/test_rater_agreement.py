"""Agreement, against numbers from pencil, paper and Krippendorff himself."""

import time
from math import isnan

import pytest

from bench_assets.core.stats.rater_agreement import (
    cohen_kappa,
    krippendorff_alpha,
    pairwise_agreement,
    unanimous_share,
)


def units():
    """Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C."""
    observers = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
    return [[v for v in unit if v != "."] for unit in zip(*observers, strict=True)]


def test_alpha_is_the_one_that_krippendorff_publishes():
    assert round(krippendorff_alpha(units()), 3) == 0.743


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


# Cohen's kappa, against printed examples and the delta method done by differences.


Z = 1.959963984540054


def pairs(table):
    return [(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]


@pytest.mark.parametrize(
    ("table", "kappa", "error"),
    [
        # Two reviewers of 160 films: con, mixed, pro (Agresti, Categorical Data Analysis, 10.5).
        pytest.param([[24, 8, 13], [8, 13, 11], [10, 9, 64]], 0.389, 0.060, id="two reviewers"),
        # 100 diagnoses: psychotic, neurotic, organic (Fleiss, Statistical Methods, table 13.1).
        pytest.param([[75, 1, 4], [5, 4, 1], [0, 0, 10]], 0.676, 0.087, id="two psychiatrists"),
    ],
)
def test_kappa_and_its_error_are_those_that_are_printed(table, kappa, error):
    found = cohen_kappa(pairs(table))
    assert found.value == pytest.approx(kappa, abs=0.001)
    assert (found.high - found.low) / (2 * Z) == pytest.approx(error, abs=0.001)


def test_who_always_says_the_same_agrees_by_chance_alone():
    kappa = cohen_kappa([(n % 3 == 0, True) for n in range(300)])
    assert kappa.value == pytest.approx(0)
    assert kappa.high < 0.02


@pytest.mark.parametrize("n", [107, 118, 125, 132])
def test_where_rounding_leaves_less_than_no_variance_the_interval_is_the_widest(n):
    kappa = cohen_kappa([(1, 1)] * (n - 1) + [(0, 1)])
    assert kappa.value == pytest.approx(0)
    assert kappa.high == pytest.approx(3 / n)  # three agreements could have gone unseen


@pytest.mark.parametrize(
    "rated",
    [pytest.param([], id="nothing"), pytest.param([("a", "a")] * 9, id="one value alone")],
)
def test_where_chance_agrees_on_everything_there_is_no_kappa(rated):
    kappa = cohen_kappa(rated)
    assert isnan(kappa.value)
    assert kappa.n == len(rated)


@pytest.mark.parametrize(
    ("table", "end"),
    [
        pytest.param([[9, 1], [0, 10]], ("high", 1.0), id="nearly all alike"),
        pytest.param([[0, 10], [9, 1]], ("low", -1.0), id="nearly all contrary"),
    ],
)
def test_the_interval_of_a_kappa_ends_where_kappa_can(table, end):
    assert getattr(cohen_kappa(pairs(table)), end[0]) == end[1]


def test_a_kappa_is_written_with_its_interval_and_a_missing_one_without():
    assert str(cohen_kappa([(n % 2, n % 2) for n in range(30)])) == (
        "kappa 1.00 (0.90 to 1.00, n = 30)"
    )
    assert str(cohen_kappa([("a", "a")] * 9)) == "no kappa (n = 9)"


@pytest.mark.parametrize(
    ("n", "low"),
    [pytest.param(2, 0.0, id="two"), pytest.param(4, 0.25, id="four"), (30, 0.9)],
)
def test_of_few_things_all_misses_could_have_gone_unseen(n, low):
    assert cohen_kappa([(i % 2, i % 2) for i in range(n)]).low == pytest.approx(low)
