"""A promise of a statistic, and how often it is kept."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

Rng: TypeAlias = np.random.Generator
Trial: TypeAlias = Callable[[int, Rng], float]
"""Draws a sample of n questions; True if the promised event happens, or a ratio to average."""


SIZES = (30, 200, 2000)
"""Questions of a sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """An event that happens in a percentage of the samples of a population."""

    event: str
    population: str  # with the metric
    trial: Trial
    low: float  # % of the samples
    high: float  # % of the samples
    sizes: Sequence[int] = SIZES

    def measure(self, n_questions: int, n_samples: int, seed: int = 0) -> float:
        """Percentage of samples with the event; the same seed draws the same samples."""
        rng = np.random.default_rng([seed, n_questions])
        total = sum(self.trial(n_questions, rng) for _ in range(n_samples))
        return 100 * total / n_samples

    def holds(self, percent: float, n_samples: int) -> bool:
        """Whether a percentage is within the bounds.

        With fewer than 2,000 samples, it may miss them by three standard errors.
        """
        middle = (self.low + self.high) / 200
        error = 100 * (middle * (1 - middle) / n_samples) ** 0.5
        tolerance = 3 * error if n_samples < 2000 else 0.0
        return self.low - tolerance <= percent <= self.high + tolerance
