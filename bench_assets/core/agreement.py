"""How far people who judge the same things agree."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from math import nan


def unanimous_share(units: Iterable[Sequence[Hashable]]) -> float:
    """Share of units on which all raters agree, of those with at least two; NaN if none has.

    >>> unanimous_share([["yes", "yes", "yes"], ["yes", "no"], ["no"]])
    0.5
    """
    rated = _pairable(units)
    return sum(len(unit) == 1 for unit in rated) / len(rated) if rated else nan


def pairwise_agreement(units: Iterable[Sequence[Hashable]]) -> float:
    """Mean over units of the share of rater pairs that agree; NaN if no unit has two raters.

    >>> round(pairwise_agreement([["yes", "yes", "no"], ["no", "no"]]), 3)  # (1/3 + 1) / 2
    0.667
    """
    rated = _pairable(units)
    shares = [1 - _disagreeing(unit) / (unit.total() * (unit.total() - 1)) for unit in rated]
    return sum(shares) / len(shares) if shares else nan


def krippendorff_alpha(units: Iterable[Sequence[Hashable]]) -> float:
    """Krippendorff's alpha for nominal values: 1 - observed / expected disagreement.

    A unit holds the values that its raters gave, in any order; raters who gave none are left out,
    and units with fewer than two values say nothing (Krippendorff, Computing Krippendorff's
    Alpha-Reliability, 2011, section C). NaN if there are no such units, or if only one value was
    ever given, where no disagreement is expected.

    >>> krippendorff_alpha([["yes", "yes"], ["no", "no"]])
    1.0
    """
    rated = _pairable(units)
    values: Counter[Hashable] = sum(rated, Counter())
    total = values.total()
    expected = _disagreeing(values) / (total - 1) if total else 0.0
    observed = sum(_disagreeing(unit) / (unit.total() - 1) for unit in rated)
    return 1 - observed / expected if expected else nan


def _pairable(units: Iterable[Sequence[Hashable]]) -> list[Counter[Hashable]]:
    return [Counter(unit) for unit in units if len(unit) > 1]


def _disagreeing(values: Counter[Hashable]) -> int:
    """Ordered pairs of different values."""
    return values.total() ** 2 - sum(n * n for n in values.values())
