"""Draws: units of a metric whose responses people judge, with their probabilities.

Units are drawn by strata, the verdicts of the judge on the compared models. The order of a draw is
fixed, so that each of its prefixes is a draw, and a larger draw contains the smaller.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush

from bench_assets.core.schema.measured_figures import DrawnUnit

MIN_OF_STRATUM = 5
"""Units of each stratum that are drawn before those in proportion to its size."""


def shuffle_by_digest(names: Iterable[str], seed: int = 0) -> list[str]:
    """Shuffle names by their digests: the order of two names does not depend on others."""
    return sorted(names, key=lambda name: hashlib.sha256(f"{seed}\n{name}".encode()).digest())


def draw_order(strata: Mapping[str, Sequence[str]]) -> list[str]:
    """Order all units of several strata so that the first n are a draw of n.

    Five of each stratum come first, in turns; then a stratum's turn is by its size over its next
    odd number (Webster's divisor), so that every stratum has its share of the units drawn.

    >>> draw_order({"no": [f"n{n}" for n in range(6)], "yes": ["y"]})[:2] == ["n4", "y"]
    True
    """
    left = {name: shuffle_by_digest(units)[::-1] for name, units in strata.items()}
    queue: list[tuple[float, float, str]] = []

    def enqueue(name: str, n_drawn: int) -> None:
        turn = (
            (n_drawn, -len(strata[name]))
            if n_drawn < MIN_OF_STRATUM
            else (MIN_OF_STRATUM, (2 * n_drawn + 1) / len(strata[name]))
        )
        heappush(queue, (*turn, name))

    for name in strata:
        enqueue(name, 0)
    order: list[str] = []
    while queue:
        name = heappop(queue)[-1]
        order.append(left[name].pop())
        if left[name]:
            enqueue(name, len(strata[name]) - len(left[name]))
    return order


def merge_draws(drawn: Iterable[DrawnUnit]) -> dict[tuple[str, str], DrawnUnit]:
    """Combine several draws: each unit by model and name, with the largest of its probabilities.

    All draws rank units alike, so that a unit is in one of them with the largest probability.
    """
    draws: dict[tuple[str, str], DrawnUnit] = {}
    for row in drawn:
        key = row.model, row.unit
        if key not in draws or row.probability >= draws[key].probability:
            draws[key] = row
    return draws
