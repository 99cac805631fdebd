"""The two-parameter logistic item response model: models are its persons, questions its items.

    P(model m solves question j) = 1 / (1 + exp(-(slope_j * ability_m + ease_j)))

Models are few and questions many, so the questions are integrated out: slopes and eases have
log-normal and normal priors with fitted spread, and abilities maximise the marginal likelihood (EM
with quadrature; Bock and Aitkin, 1981, with persons and items exchanged). Abilities sum to zero,
and slopes have the geometric mean 1.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

MIN_FIT_MODELS = 8

_SLOPES = np.exp(np.linspace(-2.4, 2.4, 9))  # nodes of the quadrature
_EASES = np.linspace(-7, 7, 29)
_SLOPE, _EASE = (grid.ravel() for grid in np.meshgrid(_SLOPES, _EASES, indexing="ij"))
_MIN_SPREAD = 0.15
_ROUNDS = 200
_GAIN = 1e-5  # least gain in log-likelihood per question to continue
_MAX_FITTED = 4_000  # most questions to fit abilities on, accurate to 0.1 logits by then
_BATCH_SIZE = 4_000  # questions; bounds memory


class ItemDistribution(NamedTuple):
    """Distribution of the questions."""

    slope: float  # standard deviation of the logarithms of slopes
    ease: float  # mean of the eases, in logits
    ease_spread: float  # their standard deviation


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResponseFit:
    """Fitted parameters."""

    ability: Floats  # (models,), in logits; they sum to zero
    slope: Floats  # (questions,): posterior means
    ease: Floats  # (questions,): posterior means, in logits of a model with ability 0
    spread: ItemDistribution
    converged: bool


def fit_item_response(points: Floats) -> ItemResponseFit:
    """Fit the model by marginal maximum likelihood; deterministic.

    Args:
        points: (models, questions), shares of points in [0, 1]; NaN for missing scores. Shares
            count as fractions of solved questions.
    """
    n = points.shape[1]
    sample = points[:, np.linspace(0, n - 1, min(n, _MAX_FITTED)).astype(np.intp)]
    ability, spread, before = np.zeros(len(points)), ItemDistribution(0.5, 0.0, 1.5), -np.inf
    rounds, converged, likelihood = 0, False, before
    while not converged and rounds < _ROUNDS:
        rounds += 1
        likelihood, weights = expected(sample, ability, spread)
        converged = likelihood - before < _GAIN * sample.shape[1]
        before = likelihood
        spread, ability = _spread(weights), _abilities(sample, weights, ability)
    slope, ease = (
        np.concatenate(arrays) for arrays in zip(*_posteriors(points, ability, spread), strict=True)
    )
    return ItemResponseFit(
        ability=ability, slope=slope, ease=ease, spread=spread, converged=converged
    )


def expected(points: Floats, ability: Floats, spread: ItemDistribution) -> tuple[float, Floats]:
    """Marginal log-likelihood, and posterior weights of the nodes, (questions, nodes)."""
    chances = np.clip(_chances(ability), 1e-12, 1 - 1e-12)
    scored = ~np.isnan(points)
    solved = np.where(scored, points, 0.0)
    logs = solved.T @ np.log(chances) + (scored - solved).T @ np.log1p(-chances) + _prior(spread)
    most = logs.max(1, keepdims=True)
    weights = np.exp(logs - most)
    total = weights.sum(1, keepdims=True)
    return float((most + np.log(total)).sum()), weights / total


def _chances(ability: Floats) -> Floats:
    """Chance of each model at each node; (models, nodes)."""
    return np.asarray(1 / (1 + np.exp(-np.clip(np.outer(ability, _SLOPE) + _EASE, -500, 500))))


def _prior(spread: ItemDistribution) -> Floats:
    logs = -0.5 * (np.log(_SLOPE) / spread.slope) ** 2
    logs = logs - 0.5 * ((_EASE - spread.ease) / spread.ease_spread) ** 2
    return np.asarray(logs - np.log(np.exp(logs).sum()))


def _counts(points: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Expected solved and asked questions by node and model; (models, nodes)."""
    scored = ~np.isnan(points)
    return np.where(scored, points, 0.0) @ weights, scored @ weights


def _spread(weights: Floats) -> ItemDistribution:
    shares = weights.mean(0)
    ease = float(shares @ _EASE)
    slope = float(np.sqrt(shares @ np.log(_SLOPE) ** 2))
    ease_spread = float(np.sqrt(shares @ (_EASE - ease) ** 2))
    return ItemDistribution(max(slope, _MIN_SPREAD), ease, max(ease_spread, _MIN_SPREAD))


def _abilities(points: Floats, weights: Floats, ability: Floats) -> Floats:
    """Newton's steps for the expected likelihood, abilities summing to zero."""
    solved, n = _counts(points, weights)
    for _ in range(3):
        chances = _chances(ability)
        slopes = ((solved - n * chances) * _SLOPE).sum(1)
        bends = (n * chances * (1 - chances) * _SLOPE**2).sum(1) + 1e-6
        pull = (slopes / bends).sum() / (1 / bends).sum()
        ability = ability + np.clip((slopes - pull) / bends, -1, 1)
        ability = ability - ability.mean()
    return np.asarray(ability)


def _posteriors(
    points: Floats, ability: Floats, spread: ItemDistribution
) -> list[tuple[Floats, Floats]]:
    posteriors = []
    for start in range(0, points.shape[1], _BATCH_SIZE):
        _, weights = expected(points[:, start : start + _BATCH_SIZE], ability, spread)
        posteriors.append((weights @ _SLOPE, weights @ _EASE))
    return posteriors
