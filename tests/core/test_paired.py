"""Paired comparisons: p-values from pencil and paper, clusters, corrections, sample sizes."""

from itertools import product
from math import comb, sqrt

import numpy as np
import pytest

from bench_assets.core.paired import (
    Pair,
    change,
    clusters_of,
    compare,
    holm,
    mcnemar,
    paired_bootstrap,
    questions_enough,
)
from tests.rows import question


def pairs(*points: tuple[float, float], cluster: str = "") -> list[Pair]:
    return [Pair(a, b, cluster or str(number)) for number, (a, b) in enumerate(points)]


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.mark.parametrize(
    ("lost", "won", "p"),
    [
        pytest.param(0, 0, 1.0, id="nothing changed"),
        pytest.param(1, 0, 1.0, id="one change is a coin's toss"),
        pytest.param(0, 5, 0.0625, id="five of five are not enough"),
        pytest.param(6, 0, 0.03125, id="six of six are"),
        pytest.param(2, 8, 2 * (1 + 10 + 45) / 1024, id="two against eight"),
        pytest.param(5, 5, 1.0, id="a draw"),
        pytest.param(9_000, 9_000, 1.0, id="numbers beyond a float's range"),
    ],
)
def test_mcnemar_is_the_binomial_test(lost, won, p):
    assert mcnemar(lost, won) == pytest.approx(p, rel=1e-12)
    assert mcnemar(won, lost) == mcnemar(lost, won)


def test_mcnemar_counts_the_tail_of_pascals_triangle():
    expected = 2 * sum(comb(400, k) for k in range(171)) / 2**400
    assert mcnemar(170, 230) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("given", "test"),
    [
        pytest.param(pairs((1, 0), (0, 0)), "McNemar", id="right or wrong, independent"),
        pytest.param(pairs((1, 0.5), (0, 0)), "paired bootstrap", id="points in between"),
        pytest.param(pairs((1, 0), (0, 0), cluster="a"), "paired bootstrap", id="one picture"),
        pytest.param([Pair(2, 0, "a", most=2)], "paired bootstrap", id="more than one point"),
    ],
)
def test_points_and_clusters_choose_the_test(given, test):
    assert compare(given, rng()).test == test


def test_questions_that_stay_as_they_are_win_and_lose_nothing():
    changed, unchanged = [(0, 1)] * 6, [(1, 1)] * 9 + [(0, 0)] * 9
    assert compare(pairs(*changed, *unchanged), rng()).p == 2 / 2**6


@pytest.mark.parametrize(
    ("given", "p"),
    [
        pytest.param(pairs((0, 1), (0, 0.5), cluster="a"), 1.0, id="one cluster shows nothing"),
        pytest.param(pairs(*[(0.5, 0.5)] * 9), 1.0, id="no change shows nothing"),
        pytest.param(pairs((0, 0.5), (0.5, 0)), 1.0, id="as much lost as won shows nothing"),
        pytest.param(pairs(*[(0, 0.5)] * 6), 2 / 2**6, id="six equal gains: the sign test's"),
        pytest.param(pairs(*[(0, 1)] * 6), 2 / 2**6, id="six equal gains of a whole point"),
    ],
)
def test_few_clusters_are_not_taken_for_much(given, p):
    assert paired_bootstrap(given, rng()) == p


def test_the_bootstrap_agrees_with_the_normal_approximation():
    # 400 changes, mean 0.05, standard deviation 0.5: t = 2, two-sided 0.0455
    spread = 0.5 * np.tile([1, -1], 200)
    given = [Pair(0, 0.05 + float(d), str(n)) for n, d in enumerate(spread)]
    assert paired_bootstrap(given, rng()) == pytest.approx(0.0455, abs=0.012)


def test_questions_on_one_picture_count_less_than_as_many_pictures():
    gains = [(0, 1)] * 60 + [(1, 0)] * 30 + [(1, 1)] * 60
    alone = [Pair(a, b, str(n)) for n, (a, b) in enumerate(gains)]
    together = [pair._replace(cluster=str(n // 10)) for n, pair in enumerate(alone)]
    assert compare(alone, rng()).p < 0.01
    assert compare(together, rng()).p > 0.05


def test_the_change_is_a_share_of_the_points():
    assert change([Pair(0, 3, "a", most=4), Pair(1, 0, "b")]) == 0.4


@pytest.mark.parametrize(
    ("given", "corrected"),
    [
        pytest.param([0.04], [0.04], id="a single test needs no correction"),
        pytest.param([0.01, 0.04, 0.03], [0.03, 0.06, 0.06], id="never in another order"),
        pytest.param([0.6, 0.7], [1.0, 1.0], id="never above one"),
        pytest.param([], [], id="no tests"),
    ],
)
def test_holm(given, corrected):
    assert holm(given) == pytest.approx(corrected)


def test_clusters_are_what_shares_a_group_or_all_pictures():
    questions = [
        question(question_id="a", group_id="g", images=("1",)),
        question(question_id="b", group_id="h", images=("1",)),
        question(question_id="c", group_id="h"),
        question(question_id="d", images=("1", "2")),
        question(question_id="e"),
        question(question_id="f"),
    ]
    found = clusters_of(questions)
    assert found["a"] == found["b"] == found["c"]
    assert len({found[name] for name in "adef"}) == 4


@pytest.mark.parametrize(
    ("given", "alpha", "n"),
    [
        # (1.96 + 0.84)² = 7.849 times the variance of a change, over the squared change
        pytest.param(pairs(*[(0, 1), (1, 0)] * 50), 0.05, 785, id="every question changes"),
        pytest.param(pairs(*[(1, 1)] * 98), 0.05, 8, id="none of 98 changes: one in 100 may"),
        pytest.param(pairs(*[(1, 1)] * 2), 0.05, 197, id="none of two changes: one in four may"),
        pytest.param(
            pairs(*[(0, 1), (1, 0)] * 50), 0.005, 1332, id="ten metrics: 13.313 for 7.849"
        ),
    ],
)
def test_how_many_questions_are_enough(given, alpha, n):
    assert questions_enough(given, smallest=0.1, alpha=alpha) == n


@pytest.mark.parametrize(
    ("n", "enough"),
    [
        # 784.888 times one changed question in n + 2; without any question every one may change.
        pytest.param(0, 785, id="no question"),
        pytest.param(1, 262, id="one: one in three may"),
        pytest.param(10, 66, id="ten: one in twelve may"),
        pytest.param(48, 16, id="48: one in fifty may"),
    ],
)
def test_a_few_questions_without_a_change_do_not_look_like_enough(n, enough):
    assert questions_enough(pairs(*[(1, 1)] * n), smallest=0.1, alpha=0.05) == enough


def test_a_spread_that_shows_counts_before_the_floor_under_it():
    # One in 50 changes: variance 0.02 - 0.02² = 0.0196, above 1/52; 784.888 * 0.0196 = 15.4.
    changed = pairs((0, 1), *[(1, 1)] * 49)
    assert questions_enough(changed, smallest=0.1, alpha=0.05) == 16
    # Two points a question halve the share that a point is: a quarter of the variance.
    doubled = [pair._replace(most=2.0) for pair in pairs(*[(0, 1), (1, 0)] * 50)]
    assert questions_enough(doubled, smallest=0.1, alpha=0.05) == 197


def test_the_unit_of_points_changes_no_p_value():
    gains = [3, 1, 2, -1, 0, 2, 4, -2]
    by_point, in_thousandths = (
        paired_bootstrap([Pair(0, unit * gain, str(n)) for n, gain in enumerate(gains)], rng())
        for unit in (1.0, 2.0**-10)
    )
    assert by_point == in_thousandths


def test_questions_of_two_points_are_as_good_as_two_of_one():
    gains = [3, 1, 2, -1, 0, 2, 4, -2]
    of_one, of_two = (
        paired_bootstrap([Pair(0, n * gain, str(i), most=n) for i, gain in enumerate(gains)], rng())
        for n in (1.0, 2.0)
    )
    assert of_one == of_two


@pytest.mark.parametrize(
    ("gains", "extreme"),
    [
        # Without spread are 82 draws, four of 0.1 or four of 0.7: they count as extreme.
        pytest.param([0.1, 0.7, 0.1, 0.1], 94, id="256 draws"),
        # 2, -1, -1 gains nothing with the same error, and so is just as far from the change of 1.
        pytest.param([2, 2, -1], 15, id="27 draws, some of them just as extreme"),
    ],
)
def test_the_bootstrap_of_a_few_clusters_is_that_of_all_draws(gains, extreme):
    n = len(gains)

    def ratio_and_error(drawn):
        ratio = sum(drawn) / n
        return ratio, sqrt(sum((gain - ratio) ** 2 for gain in drawn)) / n

    ratio, error = ratio_and_error(gains)
    draws = [ratio_and_error(drawn) for drawn in product(gains, repeat=n)]
    far = [abs(other - ratio) * error >= ratio * spread - 1e-12 for other, spread in draws]
    assert sum(far) == extreme
    given = [Pair(0, gain, str(number)) for number, gain in enumerate(gains)]
    assert paired_bootstrap(given, rng()) == pytest.approx(extreme / n**n, abs=0.05)


def test_clusters_need_more_questions():
    # Ten questions a picture that change together carry the information of one.
    together = [Pair(n // 10 % 2, 1 - n // 10 % 2, str(n // 10)) for n in range(1000)]
    assert questions_enough(together, smallest=0.1, alpha=0.05) == 7849
