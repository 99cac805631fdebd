"""A judge's mean corrected by people's verdicts: by hand, and beside other implementations."""

import random
from math import hypot, sqrt

import pytest

from bench_assets.core.stats.corrected_means import (
    CheckedUnit,
    CorrectedMean,
    corrected_mean,
    difference_interval,
    labels_to_halve,
    shortage,
)
from bench_assets.core.stats.means import ScoredPoint, mean
from tests.cases import read_rows

JUDGE, PEOPLE = (1, 1, 1, 0, 0, 0), (1, 0, None, 1, 0, None)


def build_units(judge, people, probability=1.0, clusters=()):
    """Units with these verdicts of the judge and of people; None where people gave none."""
    rows = zip(judge, people, clusters or [""] * len(judge), strict=True)
    return [
        CheckedUnit(judge=by_judge, people=by_people, probability=probability, cluster=cluster)
        for by_judge, by_people, cluster in rows
    ]


def test_six_units_are_corrected_as_by_hand():
    """Half of each verdict is right, by one effective label: Jeffreys' Beta(1, 1) at 2.5 %.

    Predictions do not vary, so that only labels add to the interval.
    """
    corrected = corrected_mean(build_units(JUDGE, PEOPLE, 2 / 3))
    half = sqrt(2 * (0.5 * 0.475) ** 2)  # each verdict has half of the units; 0.475 = 0.5 - 0.025
    assert corrected.value == corrected.judge == 0.5
    assert (corrected.low, corrected.high) == pytest.approx((0.5 - half, 0.5 + half))
    assert (corrected.n_checked, corrected.n_units, corrected.bias) == (4, 6, 0)


def test_labels_of_each_verdict_count_by_its_share():
    """The judge calls 4 of 10 right; people half of those, and 1 of 3 of the others."""
    corrected = corrected_mean(
        build_units([1] * 4 + [0] * 6, [1, 0, None, None, 1, 0, 0, None, None, None])
    )
    assert corrected.value == pytest.approx(0.4 / 2 + 0.6 / 3)
    assert (corrected.judge, corrected.bias) == pytest.approx((0.4, 0.4 - corrected.value))
    assert corrected.bias_low < corrected.bias < corrected.bias_high


def test_units_that_are_rarely_drawn_count_more():
    """A unit drawn by a third stands for three, within the verdict of the present judge."""
    certain, rare = CheckedUnit(1, 1, probability=1.0), CheckedUnit(1, 0, probability=1 / 3)
    corrected = corrected_mean([certain, rare, CheckedUnit(1), CheckedUnit(1)])
    assert corrected.value == pytest.approx(1 / 4)


def test_equal_weights_do_not_move_the_mean():
    units = build_units(JUDGE, PEOPLE)
    plain = corrected_mean(units)
    weighted = corrected_mean([unit._replace(weight=2.0) for unit in units])
    assert weighted.value == pytest.approx(plain.value)
    assert (weighted.low, weighted.high) == pytest.approx((plain.low, plain.high))


def test_units_with_a_larger_weight_move_the_mean():
    # Three units right for the judge, of weight 3, and three wrong ones of weight 1: 9 of 12.
    units = [CheckedUnit(1, 1, weight=3.0)] * 3 + [CheckedUnit(0, 0)] * 3
    assert corrected_mean(units).judge == pytest.approx(0.75)


def test_with_all_units_labelled_the_mean_is_that_of_people():
    rng = random.Random(0)
    people = [float(rng.random() < 0.6) for _ in range(400)]
    judge = [verdict if rng.random() < 0.9 else 1 - verdict for verdict in people]
    corrected = corrected_mean(build_units(judge, people))
    plain = mean(map(ScoredPoint, people))
    assert corrected.value == pytest.approx(plain.value)
    assert corrected.high - corrected.low == pytest.approx(plain.high - plain.low, rel=0.02)


def test_clusters_that_are_right_together_widen_the_interval():
    rng = random.Random(1)
    people = [float(n % 2) for n in range(60) for _ in range(5)]
    judge = [verdict if rng.random() < 0.8 else 1 - verdict for verdict in people]
    clusters = [str(n) for n in range(60) for _ in range(5)]
    labels = [verdict if rng.random() < 0.5 else None for verdict in people]
    independent = corrected_mean(build_units(judge, labels, 0.5))
    clustered = corrected_mean(build_units(judge, labels, 0.5, clusters))
    assert clustered.value == pytest.approx(independent.value)
    assert clustered.high - clustered.low > 1.2 * (independent.high - independent.low)


def test_a_judge_that_never_errs_is_not_certain():
    """Of the half that it calls right, 15 labels leave 15.2 %: Beta(0.5, 15.5) at 97.5 %."""
    judge = [1.0] * 1500 + [0.0] * 1500
    people = [verdict if n % 100 == 0 else None for n, verdict in enumerate(judge)]
    corrected = corrected_mean(build_units(judge, people))
    assert corrected.value == 0.5
    expected = hypot(0.152 / 2, 1.96 * sqrt(0.25 / 3000))  # of labels, and of 3,000 units
    assert corrected.value - corrected.low == pytest.approx(expected, abs=1e-3)


def binary_units(seed, n_labelled, n_units):
    """Units of which people call seven of ten right; the judge agrees on 85 %."""
    rng = random.Random(seed)
    judge, people = [], []
    for _ in range(n_units):
        people.append(float(rng.random() < 0.7))
        judge.append(people[-1] if rng.random() < 0.85 else 1 - people[-1])
    return build_units(judge, people[:n_labelled] + [None] * (n_units - n_labelled))


def graded_units(seed, n_labelled, n_units):
    """Units with people's grades, and a judge's that are half noise."""
    rng = random.Random(seed)
    judge, people = [], []
    for _ in range(n_units):
        people.append(rng.random())
        judge.append((people[-1] + rng.random()) / 2)
    return build_units(judge, people[:n_labelled] + [None] * (n_units - n_labelled))


@pytest.mark.parametrize(
    ("kind", "seed", "n_labelled", "n_units", "value", "tuning"),
    read_rows(__file__, "prediction_powered.jsonl"),
)
def test_one_stratum_is_prediction_powered_inference(
    kind, seed, n_labelled, n_units, value, tuning
):
    """As ``ppi_mean_pointestimate`` of ppi-python 0.2.3, and ``ppi_estimate`` of truescore 0.7.4.

    Both give this value to 1e-15; the tuning is truescore's ``lambda_``.
    """
    simulate = binary_units if kind == "binary" else graded_units
    corrected = corrected_mean(simulate(seed, n_labelled, n_units), by_verdict=False)
    assert corrected.value == pytest.approx(value, abs=1e-9)
    assert corrected.tuning == pytest.approx(tuning, abs=1e-9)


@pytest.mark.parametrize(
    ("units", "reason"),
    [
        pytest.param(
            build_units([1, 0] * 20, [1.0] * 29 + [None] * 11),
            "29 units labelled, expected at least 30",
            id="few labels",
        ),
        pytest.param(
            build_units([1] * 30 + [0], [1.0] * 30 + [None]),
            "no unit of one of the judge's verdicts is labelled",
            id="one verdict only",
        ),
        pytest.param(
            build_units([1, 0] * 20, [1.0] * 40, clusters=[str(n % 9) for n in range(40)]),
            "labels in 9 clusters, expected at least 10",
            id="few clusters",
        ),
        pytest.param(build_units([1, 0] * 15, [1.0] * 30), "", id="enough"),
        pytest.param(build_units([1] * 30, [1.0] * 30), "", id="the judge has one verdict"),
    ],
)
def test_a_shortage_of_labels_has_a_reason(units, reason):
    assert shortage(units) == reason


def test_a_mean_with_a_verdict_without_labels_is_an_error():
    with pytest.raises(ValueError, match="no unit of one of the judge's verdicts"):
        corrected_mean(build_units([1, 0], [1, None]))


def build_corrected_mean(value, moves, n_units=100, from_labels=0.001):
    """A mean of 30 labels, with an interval from 0.1 below to 0.2 above."""
    return CorrectedMean(
        value, low=value - 0.1, high=value + 0.2, judge=value, bias=0, bias_low=0, bias_high=0,
        n_checked=30, n_units=n_units, tuning=1, moves=moves, from_labels=from_labels,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("moves", "interval"),
    [
        # MOVER: 0.1 - root of 0.1^2 + 0.2^2 - 2 r 0.1 0.2, with the correlation r.
        pytest.param({"a": 0.2, "b": -0.2}, (0.0, 0.2), id="the same clusters: r = 1"),
        pytest.param({"c": 0.2}, (0.1 - sqrt(0.05), 0.1 + sqrt(0.05)), id="other clusters: r = 0"),
    ],
)
def test_the_interval_of_a_difference_depends_on_common_clusters(moves, interval):
    before = build_corrected_mean(0.5, {"a": 0.1, "b": -0.1})
    after = build_corrected_mean(0.6, moves)
    assert difference_interval(before, after) == pytest.approx(interval)


@pytest.mark.parametrize(
    ("from_labels", "n_labels"),
    [
        # The variance is 2 * 0.1^2 = 0.02, half the interval has 0.005 of it, and labels do not
        # reduce 0.02 - 0.019 = 0.001: 30 * 0.019 / 0.004.
        pytest.param(0.019, 143, id="by labels"),
        pytest.param(0.015, None, id="a quarter lies in the questions"),
        pytest.param(0.0155, None, id="more than there are units"),
    ],
)
def test_the_labels_that_halve_the_interval_are_counted(from_labels, n_labels):
    corrected = build_corrected_mean(
        0.5, {"a": 0.1, "b": -0.1}, n_units=300, from_labels=from_labels
    )
    assert labels_to_halve(corrected) == n_labels
