import time
from math import isnan

import pytest

from bench_assets.core.stats.means import Z
from bench_assets.core.stats.rater_agreement import (
    cohen_kappa,
    krippendorff_alpha,
    pairwise_agreement,
    unanimous_share,
)


def test_alpha_is_the_one_that_krippendorff_publishes():
    """Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C."""
    # The values of four observers on twelve units; a dot is a missing value.
    observers = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
    units = ["".join(values).replace(".", "") for values in zip(*observers, strict=True)]
    assert round(krippendorff_alpha(units), 3) == 0.743


@pytest.mark.parametrize(
    ("rated", "alpha"),
    [
        # n = 4, both values twice: D_o = 2 of 4, D_e = 8 / 3 of 4; alpha = 1 - 4 / (8 / 3).
        pytest.param(["ab", "ab"], -0.5, id="raters who never agree do worse than chance"),
        pytest.param(["aa", "bb", "a"], 1.0, id="a unit with one rater says nothing"),
    ],
)
def test_alpha_is_that_by_hand(rated, alpha):
    assert krippendorff_alpha(rated) == pytest.approx(alpha)


@pytest.mark.parametrize(
    "rated",
    [
        pytest.param([], id="no units"),
        pytest.param(["a", "b", ""], id="no unit with two raters"),
        pytest.param(["aa", "aaa"], id="only one value, so that no disagreement is expected"),
    ],
)
def test_alpha_without_units_to_compare_is_nan(rated):
    assert isnan(krippendorff_alpha(rated))


def test_alpha_of_many_different_texts_takes_little_time():
    rated = [[f"a caption {n}", f"another {n}"] for n in range(16_000)]
    started = time.process_time()  # s of CPU: how busy the machine is does not matter
    # No two of 32,000 values are alike: D_o is 1, and so is D_e of pairs of values.
    assert krippendorff_alpha(rated) == pytest.approx(0.0)
    assert time.process_time() - started < 3  # a quadratic algorithm takes 40 s


def test_agreement_is_averaged_over_units_with_two_raters():
    rated = ["aaaa", "aaab", "aabb", "a"]  # pairs that agree: 6/6, 3/6, 2/6
    assert unanimous_share(rated) == pytest.approx(1 / 3)
    assert pairwise_agreement(rated) == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)


def test_agreement_without_two_raters_is_nan():
    assert isnan(unanimous_share(["a"]))
    assert isnan(pairwise_agreement([]))


# Cohen's kappa, against printed examples.


def rated_pairs(table):
    """The pairs of ratings that a contingency table counts."""
    pairs = []
    for first, row in enumerate(table):
        for second, n in enumerate(row):
            pairs += [(first, second)] * n
    return pairs


@pytest.mark.parametrize(
    ("table", "value", "error"),
    [
        # Two reviewers of 160 films: con, mixed, pro (Agresti, Categorical Data Analysis, 10.5).
        pytest.param([[24, 8, 13], [8, 13, 11], [10, 9, 64]], 0.389, 0.060, id="two reviewers"),
        # 100 diagnoses: psychotic, neurotic, organic (Fleiss, Statistical Methods, table 13.1).
        pytest.param([[75, 1, 4], [5, 4, 1], [0, 0, 10]], 0.676, 0.087, id="two psychiatrists"),
    ],
)
def test_kappa_and_its_standard_error_are_the_printed_ones(table, value, error):
    kappa = cohen_kappa(rated_pairs(table))
    assert kappa.value == pytest.approx(value, abs=0.001)
    assert (kappa.high - kappa.low) / (2 * Z) == pytest.approx(error, abs=0.001)


def test_a_rater_who_always_gives_the_same_value_agrees_by_chance_alone():
    kappa = cohen_kappa([(n % 3 == 0, True) for n in range(300)])
    assert kappa.value == pytest.approx(0)
    # By the rule of three, 3 of the 200 disagreements that chance leaves can go unseen.
    assert kappa.high == pytest.approx(3 / 200)


@pytest.mark.parametrize("n", [107, 118, 125, 132])
def test_a_variance_rounded_below_zero_gives_the_widest_interval(n):
    kappa = cohen_kappa([(1, 1)] * (n - 1) + [(0, 1)])
    assert kappa.value == pytest.approx(0)
    assert (kappa.low, kappa.high) == (-1, 1)


@pytest.mark.parametrize(
    "rated", [pytest.param([], id="nothing"), pytest.param([("a", "a")] * 9, id="one value alone")]
)
def test_kappa_is_nan_where_chance_agrees_on_everything(rated):
    kappa = cohen_kappa(rated)
    assert isnan(kappa.value)
    assert kappa.n == len(rated)


@pytest.mark.parametrize(
    ("table", "bound", "value"),
    [
        pytest.param([[9, 1], [0, 10]], "high", 1.0, id="nearly all alike"),
        pytest.param([[0, 10], [9, 1]], "low", -1.0, id="nearly all contrary"),
    ],
)
def test_the_interval_of_a_kappa_stays_within_minus_one_and_one(table, bound, value):
    assert getattr(cohen_kappa(rated_pairs(table)), bound) == value


def test_a_kappa_is_written_with_its_interval():
    kappa = cohen_kappa([(n % 2, n % 2) for n in range(30)])
    assert str(kappa) == "kappa 1.00 (0.80 to 1.00, n = 30)"


def test_a_missing_kappa_is_written_with_the_number_of_items():
    assert str(cohen_kappa([("a", "a")] * 9)) == "no kappa (n = 9)"


@pytest.mark.parametrize(
    ("n", "low"), [(2, -1.0), (4, -0.5), (30, 0.8)], ids=["two", "four", "thirty"]
)
def test_the_interval_of_few_agreements_is_wide(n, low):
    """By the rule of three, 3 of n agreements, at most all, could be disagreements.

    Chance agrees on half: of 4, (1/4 - 1/2) / (1 - 1/2) = -1/2 would be left; of 30,
    (27/30 - 1/2) / (1 - 1/2) = 0.8.
    """
    assert cohen_kappa([(i % 2, i % 2) for i in range(n)]).low == pytest.approx(low)
