"""Draws: units of a metric whose responses people judge, with their probabilities.

The strata of a draw are the judge's verdicts on the compared models. The order of a draw is fixed,
so that each of its prefixes is a draw, and a larger draw contains the smaller.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from bench_assets.core.schema.measured_figures import DrawnUnit

MIN_OF_STRATUM = 5
"""Units of each stratum that are drawn before those in proportion to its size."""


def shuffle_by_digest(names: Iterable[str], seed: int = 0) -> list[str]:
    """Sort names by their seeded digests: the order of two names does not depend on others."""
    return sorted(names, key=lambda name: hashlib.sha256(f"{seed}\n{name}".encode()).digest())


def draw_order(strata: Mapping[str, Sequence[str]]) -> list[str]:
    """Order all units of several strata so that the first n are a draw of n.

    The first five units of every stratum come first, in turns. The others follow by Webster's
    divisors, so that every stratum has its share of the units drawn.

    >>> draw_order({"no": [f"n{n}" for n in range(6)], "yes": ["y"]})[:2] == ["n4", "y"]
    True
    """
    turns = {
        (stratum, unit): _turn(unit_index, len(units))
        for stratum, units in strata.items()
        for unit_index, unit in enumerate(shuffle_by_digest(units))
    }
    return [unit for _, unit in sorted(turns, key=lambda place: (turns[place], place))]


def _turn(unit_index: int, stratum_size: int) -> tuple[float, float]:
    """Sort key of the unit at an index of its stratum; large strata come first in each turn."""
    if unit_index < MIN_OF_STRATUM:
        return unit_index, -stratum_size
    return MIN_OF_STRATUM, (2 * unit_index + 1) / stratum_size


def merge_draws(drawn: Iterable[DrawnUnit]) -> dict[tuple[str, str], DrawnUnit]:
    """Merge draws: each unit by model and name, with the largest of its probabilities.

    All draws order units alike, so a unit that is in any draw is in the largest one.
    """
    draws: dict[tuple[str, str], DrawnUnit] = {}
    for row in drawn:
        key = row.model, row.unit
        if key not in draws or row.probability >= draws[key].probability:
            draws[key] = row
    return draws
