"""Significance of a guess: whether a strategy that should not help beats chance.

A guess gives the key away only if its advantage over chance is both significant and large, because
checks must rarely fail on sound benchmarks, and small deviations of large benchmarks are no flaw.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bench_assets.audit.framework.evidence import Floats
from bench_assets.core.stats.means import share_interval

FALSE_POSITIVE_RATE = 0.001
"""False-positive rate of a check on a sound benchmark."""
MIN_ADVANTAGE = 0.05
"""Smallest advantage over chance that counts as a flaw, as a share of the questions."""


class GuessRate(NamedTuple):
    """Accuracy of a guess."""

    hits: float  # right guesses; a tie of two options counts as half
    n: int
    chance: float  # expected share by chance
    p: float  # one-sided
    low: float  # 95 % interval of the share
    high: float
    usual: float = 0.0  # share above chance that is still no flaw; ``p`` tests against it

    @property
    def share(self) -> float:
        """Share of right guesses; 0 without any guess."""
        return self.hits / self.n if self.n else 0.0

    @property
    def is_significant(self) -> bool:
        """Whether the advantage over chance, or over the usual share, is significant and large."""
        return (
            self.p < FALSE_POSITIVE_RATE
            and self.share - max(self.chance, self.usual) >= MIN_ADVANTAGE
        )

    def __str__(self) -> str:
        """Format the share with its interval, n, chance and, if it is higher, the usual share.

        >>> str(GuessRate(hits=30, n=40, chance=0.25, p=0.0, low=0.6, high=0.86))
        '75 % right (60 % to 86 %, n = 40), by chance 25 %'
        """
        usual = f", up to {self.usual:.0%} are usual" if self.usual > self.chance else ""
        return (
            f"{self.share:.0%} right ({self.low:.0%} to {self.high:.0%}, n = {self.n}), by chance"
            f" {self.chance:.0%}{usual}"
        ).replace("%", " %")


def compare_with_chance(
    hits: Sequence[float] | Floats,
    chances: Sequence[float] | Floats,
    clusters: Sequence[str] = (),
    tries: int = 1,
) -> GuessRate:
    """Compare a guess with chance.

    The p-value is the binomial tail at the mean chance level, an upper bound of the exact one
    (Hoeffding, 1956). The number of questions is divided by the design effect of clusters.

    Args:
        hits: Score of the guess on each question, in [0, 1].
        chances: Chance level of each question.
        clusters: Cluster of each question; (): questions are independent.
        tries: Number of guesses that are tested; multiplies the p-value, up to 1.
    """
    scores, levels = np.asarray(hits, float), np.asarray(chances, float)
    n = len(scores)
    if not n:
        return GuessRate(hits=0.0, n=0, chance=0.0, p=1.0, low=0.0, high=1.0)
    share, chance = float(scores.mean()), float(levels.mean())
    n_effective = n / _design_effect(scores - levels, clusters)
    p = min(1.0, tries * binomial_tail(share * n_effective, n_effective, chance))
    low, high = share_interval(share, n_effective)
    return GuessRate(hits=float(scores.sum()), n=n, chance=chance, p=p, low=low, high=high)


def binomial_tail(hits: float, n: float, chance: float) -> float:
    """Probability of at least as many hits by chance, rounded conservatively.

    >>> round(binomial_tail(3, 3, 0.5), 4), round(binomial_tail(2, 4, 0.25), 4)
    (0.125, 0.2617)
    """
    from scipy.stats import binom

    rounding_error = 1e-9
    n_trials = max(1, int(n + rounding_error))
    n_hits = int(min(hits / n, 1.0) * n_trials + rounding_error)
    return float(binom.sf(n_hits - 1, n_trials, min(max(chance, 0.0), 1.0)))


def _design_effect(residuals: Floats, clusters: Sequence[str]) -> float:
    """Design effect: how many questions are worth one independent question; at least 1."""
    if not clusters or not residuals.any():
        return 1.0
    sums: dict[str, float] = defaultdict(float)
    sizes: dict[str, int] = defaultdict(int)
    centred = residuals - residuals.mean()
    for cluster, residual in zip(clusters, centred, strict=True):
        sums[cluster] += residual
        sizes[cluster] += 1
    sum_of_squares = float((centred**2).sum())
    if sum_of_squares == 0:  # equal residuals: clusters count as one question
        return sum(size**2 for size in sizes.values()) / len(residuals)
    return max(1.0, sum(total**2 for total in sums.values()) / sum_of_squares)
