"""Bets by pencil; and that nobody is called worse too often, however often one looks."""

import numpy as np
import pytest

from bench_assets.core.stats.power import comparison_alpha, sequential_p_value


@pytest.mark.parametrize(
    ("gains", "p"),
    [
        pytest.param([], 1.0, id="nothing was asked"),
        pytest.param([-1.0], 1.0, id="before the first question nothing is bet"),
        # Seen: 0 and -1, mean -1/2, squares 1/4 + 1: the bet is 0.5 at most, and wins half.
        pytest.param([-1.0, -1.0], 1 / 1.5, id="then half is won on a loss"),
        pytest.param([-1.0, -1.0, 1.0], 1 / 1.5, id="what was won counts at its best"),
        # Seen: 0 and -0.1, mean -0.05, squares 0.25 + 0.01: a bet of 0.05 / (0.13 + 0.0025).
        pytest.param([-0.1, -1.0], 1 / (1 + 0.05 / 0.1325), id="on a small loss little is bet"),
        # And 0: mean -1/30, squares 0.26 + 0.05^2, of three.
        pytest.param(
            [-0.1, 0.0, -1.0],
            1 / (1 + (1 / 30) / (0.0875 + 1 / 900)),
            id="and what was seen since counts",
        ),
        pytest.param([1.0] * 50, 1.0, id="on gains nothing is bet"),
        pytest.param([0.0] * 50, 1.0, id="and nothing on what stays"),
    ],
)
def test_a_bet_by_pencil(gains, p):
    assert sequential_p_value(gains) == pytest.approx(p)


def test_more_questions_never_raise_it():
    gains = np.random.default_rng(0).choice([-1.0, 0.0, 1.0], size=80).tolist()
    looks = [sequential_p_value(gains[:n]) for n in range(81)]
    assert looks == sorted(looks, reverse=True)


@pytest.mark.parametrize(
    ("gains", "shares"),
    [
        pytest.param([-1.0, 0.0, 1.0], [0.3, 0.4, 0.3], id="as many lost as won"),
        pytest.param([-1.0, 0.1], [1 / 11, 10 / 11], id="few great losses, many small gains"),
        pytest.param([-0.1, 1.0], [10 / 11, 1 / 11], id="many small losses, few great gains"),
    ],
)
def test_a_model_that_is_no_worse_is_seldom_called_so_at_any_look(gains, shares):
    """Ville's inequality: of 400 models at most 20, more than 33 once in 400 times."""
    rng = np.random.default_rng(1)
    drawn = (rng.choice(gains, p=shares, size=100).tolist() for _ in range(400))
    assert sum(sequential_p_value(one) < 0.05 for one in drawn) <= 33


def test_a_model_that_is_worse_is_found():
    rng = np.random.default_rng(2)
    drawn = [rng.choice([-1, 0, 1], p=[0.35, 0.6, 0.05], size=100).tolist() for _ in range(50)]
    assert sum(sequential_p_value(gains) < 0.05 for gains in drawn) >= 45


def test_what_is_spent_adds_up_to_all_there_is():
    # 1/(1*2) + 1/(2*3) + ... + 1/(n(n+1)) = n/(n+1)
    assert sum(comparison_alpha(k, 0.05) for k in range(1, 100)) == pytest.approx(0.05 * 99 / 100)
