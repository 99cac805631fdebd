"""Intervals for measures of a whole corpus, which are no means of its parts."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_DRAWS = 1000


def drawn_sums(parts: Floats, rng: np.random.Generator) -> Floats:
    """Sum what units add over each of the corpora that are drawn; ``(n, k)`` -> ``(draws, k)``."""
    n = len(parts)
    sums: Floats = rng.multinomial(n, np.full(n, 1 / n), size=_DRAWS).astype(float) @ parts
    return sums


def interval(drawn: Floats) -> tuple[float, float]:
    """Take the middle 95 % of a measure's values on drawn corpora."""
    low, high = np.percentile(drawn, [2.5, 97.5])
    return float(low), float(high)
