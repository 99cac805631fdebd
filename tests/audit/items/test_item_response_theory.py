"""The item response model: its likelihood by hand, its and known parameters found."""

import numpy as np
import pytest
from scipy import special, stats

from bench_assets.audit.items.item_response_theory import (
    ItemDistribution,
    expected,
    fit_item_response,
)
from tests.audit.simulated import solved


def drawn(n_models, n, seed):
    rng = np.random.default_rng(seed)
    ability = rng.normal(0, 1, n_models)
    ability -= ability.mean()
    slope, ease = np.exp(rng.normal(0, 0.4, n)), rng.normal(0.5, 1.2, n)
    return ability, slope, ease, solved(ability, slope, ease, rng).astype(float)


def gradient(points, ability, spread, step=1e-5):
    """Of the marginal likelihood, by differences."""
    return np.array(
        [
            expected(points, ability + step * one, spread)[0]
            - expected(points, ability - step * one, spread)[0]
            for one in np.eye(len(ability))
        ]
    ) / (2 * step)


def test_the_marginal_likelihood_is_the_integral_over_slope_and_ease():
    ability, spread = np.array([-0.7, 0.2, 0.5]), ItemDistribution(0.5, 0.4, 1.3)
    pattern = np.array([0.0, 1.0, 1.0])

    # The same integral on a fine grid of its own, with the densities of scipy.
    log_slope, ease = np.meshgrid(np.linspace(-2.5, 2.5, 201), np.linspace(-7, 8, 301))
    logits = np.exp(log_slope)[..., None] * ability + ease[..., None]
    chances = special.expit(np.where(pattern == 1, logits, -logits)).prod(2)
    weights = stats.norm(0, 0.5).pdf(log_slope) * stats.norm(0.4, 1.3).pdf(ease)
    exact = (chances * weights).sum() / weights.sum()
    found, _ = expected(pattern[:, None], ability, spread)
    assert found == pytest.approx(np.log(exact), abs=2e-3)


def test_at_the_end_no_model_can_gain_against_the_others():
    """Abilities sum to zero: all derivatives are one and the same."""
    _, _, _, points = drawn(10, 400, seed=2)
    found = fit_item_response(points)
    assert found.converged
    assert found.ability.sum() == pytest.approx(0, abs=1e-9)
    assert np.ptp(gradient(points, found.ability, found.spread)) < 1.0
    pushed = found.ability + 0.2 * np.eye(10)[0] - 0.02
    assert np.ptp(gradient(points, pushed, found.spread)) > 5  # it would be seen


@pytest.mark.parametrize(
    ("n_models", "n", "off", "eases", "slopes"),
    [
        pytest.param(20, 800, 0.15, 0.85, 0.4, id="twenty models"),
        pytest.param(100, 150, 0.35, 0.95, 0.7, id="many models, few questions"),
    ],
)
def test_known_parameters_are_found(n_models, n, off, eases, slopes):
    ability, slope, ease, points = drawn(n_models, n, seed=3)
    found = fit_item_response(points)
    assert np.sqrt(np.mean((found.ability - ability) ** 2)) < off
    assert np.corrcoef(found.ease, ease)[0, 1] > eases
    assert np.corrcoef(found.slope, slope)[0, 1] > slopes
    assert found.spread == pytest.approx((0.4, 0.5, 1.2), abs=0.15)
