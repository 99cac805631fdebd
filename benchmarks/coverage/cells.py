"""What is tried, how often it came true, and between which bounds it should."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

Rng: TypeAlias = np.random.Generator
Trial: TypeAlias = Callable[[int, Rng], float]
"""Draws a sample of n questions; whether what was promised came true, or a ratio to average."""


SIZES = (30, 200, 2000)
"""Questions of a sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """One statistic on one population."""

    what: str  # "an interval holds the truth", "two equal models are told apart", ...
    of: str  # the metric and the population
    trial: Trial
    low: float  # %, of repetitions in which it should come true
    high: float
    sizes: Sequence[int] = SIZES


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """How often a promise came true."""

    promise: Promise
    n: int  # questions of a sample
    share: float  # %
    repetitions: int

    @property
    def holds(self) -> bool:
        """Whether that is within the bounds, as far as so many repetitions can tell.

        Of 2,000 repetitions the bounds are taken as they are; of fewer, three standard errors of
        the share are allowed for.
        """
        low, high = self.promise.low, self.promise.high
        middle = (low + high) / 200
        error = 100 * (middle * (1 - middle) / self.repetitions) ** 0.5
        more = 3 * error if self.repetitions < 2000 else 0.0
        return low - more <= self.share <= high + more


def tried(promise: Promise, n: int, repetitions: int, seed: int = 0) -> Kept:
    """Try a promise on samples of n questions, the same ones for the same seed."""
    rng = np.random.default_rng([seed, n])
    true = sum(promise.trial(n, rng) for _ in range(repetitions))
    return Kept(promise=promise, n=n, share=100 * true / repetitions, repetitions=repetitions)
