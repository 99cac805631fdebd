"""A judge's mean corrected by people's verdicts: by pencil, and beside other implementations."""

import random
from math import sqrt

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

JUDGE, PEOPLE = (1, 1, 1, 0, 0, 0), (1, 0, None, 1, 0, None)


def units(judge, people, probability=1.0, clusters=()):
    named = clusters or [""] * len(judge)
    rows = zip(judge, people, named, strict=True)
    return [CheckedUnit(f, y, probability, cluster) for f, y, cluster in rows]


def test_six_units_by_pencil():
    """Half of each verdict is right, by one effective label: Jeffreys' Beta(1, 1) at 2.5 %.

    Predictions do not vary, so that only labels add to the interval.
    """
    corrected = corrected_mean(units(JUDGE, PEOPLE, 2 / 3))
    half = sqrt(2 * (0.5 * 0.475) ** 2)
    assert corrected.value == corrected.judge == 0.5
    assert (corrected.low, corrected.high) == pytest.approx((0.5 - half, 0.5 + half))
    assert (round(corrected.low, 4), round(corrected.high, 4)) == (0.1641, 0.8359)
    assert (corrected.n_checked, corrected.n_units, corrected.bias) == (4, 6, 0)


def test_people_in_each_verdict_count_by_its_share():
    """The judge calls 4 of 10 right; people half of those, and 1 of 3 of the others."""
    corrected = corrected_mean(
        units([1] * 4 + [0] * 6, [1, 0, None, None, 1, 0, 0, None, None, None])
    )
    assert corrected.value == pytest.approx(0.4 / 2 + 0.6 / 3)
    assert (corrected.judge, corrected.bias) == pytest.approx((0.4, 0.4 - corrected.value))
    assert corrected.bias_low < corrected.bias < corrected.bias_high


def test_rarely_drawn_units_count_more():
    """A unit drawn by a third stands for three, within the verdict of the present judge."""
    rows = [CheckedUnit(1, 1, 1.0), CheckedUnit(1, 0, 1 / 3), CheckedUnit(1), CheckedUnit(1)]
    assert corrected_mean(rows).value == pytest.approx(1 / 4)


def test_only_units_with_other_weights_move_the_mean():
    rows = units(JUDGE, PEOPLE)
    heavy = [unit._replace(weight=3.0) if unit.judge else unit for unit in rows]
    assert corrected_mean([unit._replace(weight=2.0) for unit in rows])[:3] == pytest.approx(
        corrected_mean(rows)[:3]
    )
    assert corrected_mean(heavy).judge == pytest.approx(0.75)


def test_labels_of_all_give_peoples_mean_and_nearly_its_interval():
    rng = random.Random(0)
    people = [float(rng.random() < 0.6) for _ in range(400)]
    judge = [y if rng.random() < 0.9 else 1 - y for y in people]
    corrected = corrected_mean(units(judge, people))
    plain = mean(map(ScoredPoint, people))
    assert corrected.value == pytest.approx(plain.value)
    assert corrected.high - corrected.low == pytest.approx(plain.high - plain.low, rel=0.02)


def test_clusters_that_are_right_together_widen_the_interval():
    rng = random.Random(1)
    people = [float(n % 2) for n in range(60) for _ in range(5)]
    judge = [y if rng.random() < 0.8 else 1 - y for y in people]
    clusters = [str(n) for n in range(60) for _ in range(5)]
    labels = [y if rng.random() < 0.5 else None for y in people]
    alone, together = (corrected_mean(units(judge, labels, 0.5, names)) for names in ((), clusters))
    assert alone.value == pytest.approx(together.value)
    assert together.high - together.low > 1.2 * (alone.high - alone.low)


def test_a_judge_that_never_errs_is_not_certain():
    """Thirty labels without an error leave 1 % of 3,000: Beta(0.5, 30.5) at 97.5 % is 0.08."""
    judge = [1.0] * 1500 + [0.0] * 1500
    people = [y if n % 100 == 0 else None for n, y in enumerate(judge)]
    corrected = corrected_mean(units(judge, people))
    assert corrected.value == 0.5
    assert 0.05 < corrected.value - corrected.low < 0.15


def drawn(seed, n, n_units, graded):
    rng = random.Random(seed)
    judge, people = [], []
    for _ in range(n_units):
        truth = rng.random() if graded else float(rng.random() < 0.7)
        noise = rng.random()
        judge.append((truth + noise) / 2 if graded else truth if noise < 0.85 else 1 - truth)
        people.append(truth)
    return units(judge, people[:n] + [None] * (n_units - n))


@pytest.mark.parametrize(
    ("seed", "n", "n_units", "value", "tuning"),
    [
        (0, 30, 200, 0.6342432909099576, 0.4595810095810096),
        (1, 50, 350, 0.6570779044232982, 0.7444944055212803),
        (2, 70, 500, 0.7089107185208678, 0.5506051687201837),
        (3, 90, 200, 0.6670243170831541, 0.35407391232262774),
        (4, 110, 350, 0.6083072263253145, 0.4992508423785925),
        (5, 30, 500, 0.4985577153190583, 0.8860255769526274),
        (6, 50, 200, 0.5028461239529265, 0.6461537074107515),
        (7, 70, 350, 0.4618042870199862, 0.8046364093587143),
        (8, 90, 500, 0.48346566129548807, 0.7574444795086078),
        (9, 110, 200, 0.46488491735122245, 0.34060277074909934),
    ],
)
def test_one_stratum_is_ppi_of_others(seed, n, n_units, value, tuning):
    """``ppi_mean_pointestimate`` of ppi-python 0.2.3, ``ppi_estimate`` of truescore 0.7.4.

    Both give this value to 1e-15, truescore this ``lambda_``. From the fifth on graded.
    """
    corrected = corrected_mean(drawn(seed, n, n_units, graded=seed >= 5), by_verdict=False)
    assert corrected.value == pytest.approx(value, abs=1e-9)
    assert corrected.tuning == pytest.approx(tuning, abs=1e-9)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        pytest.param(
            units([1, 0] * 20, [1.0] * 29 + [None] * 11),
            "29 units labelled, expected at least 30",
            id="few labels",
        ),
        pytest.param(
            units([1] * 30 + [0], [1.0] * 30 + [None]),
            "no unit of one of the judge's verdicts is labelled",
            id="one verdict only",
        ),
        pytest.param(
            units([1, 0] * 20, [1.0] * 40, clusters=[str(n % 9) for n in range(40)]),
            "labels in 9 clusters, expected at least 10",
            id="few clusters",
        ),
        pytest.param(units([1, 0] * 15, [1.0] * 30), "", id="enough"),
        pytest.param(units([1] * 30, [1.0] * 30), "", id="the judge has one verdict"),
    ],
)
def test_too_few_labels_correct_nothing(rows, reason):
    assert shortage(rows) == reason


def test_a_verdict_without_labels_is_an_error():
    with pytest.raises(ValueError, match="no unit of one of the judge's verdicts"):
        corrected_mean(units([1, 0], [1, None]))


def side(value, moves):
    return CorrectedMean(
        value, value - 0.1, value + 0.2, value, 0, 0, 0, 30, 100, 1, moves, from_labels=0.001
    )


def test_a_difference_by_pencil():
    """MOVER: 0.1 - root of 0.1^2 + 0.2^2 - 2 r 0.1 0.2, with r = 1 and 0."""
    before, after = side(0.5, {"a": 0.1, "b": -0.1}), side(0.6, {"a": 0.2, "b": -0.2})
    assert difference_interval(before, after) == pytest.approx((0.0, 0.2))
    apart = side(0.6, {"c": 0.2})
    assert difference_interval(before, apart) == pytest.approx((0.1 - sqrt(0.05), 0.1 + sqrt(0.05)))


@pytest.mark.parametrize(
    ("from_labels", "needed"),
    [
        # of a variance of 0.02, 0.001 is left besides labels: 30 * 0.019 / 0.004
        pytest.param(0.019, 143, id="by labels"),
        pytest.param(0.015, None, id="a quarter lies in the questions"),
        pytest.param(0.0155, None, id="more than there are units"),
    ],
)
def test_labels_that_halve_the_interval(from_labels, needed):
    found = side(0.5, {"a": 0.1, "b": -0.1})._replace(n_units=300, from_labels=from_labels)
    assert labels_to_halve(found) == needed
