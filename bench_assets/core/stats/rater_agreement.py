"""Inter-annotator agreement: majority, percent agreement, Krippendorff's alpha, Cohen's kappa."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import isnan, nan, sqrt
from typing import NamedTuple, TypeVar

from bench_assets.core.stats.means import Z

Value = TypeVar("Value", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionAgreement:
    """Agreement of raters by one criterion; NaN without units with two raters."""

    criterion: str
    n: int  # units with at least two raters
    unanimous: float  # share of them on which all raters agree
    pairwise: float  # mean share of pairs of raters that agree
    alpha: float  # Krippendorff's, nominal; NaN too if only one value occurs


def agreements(
    units_by_criterion: Mapping[str, Sequence[Sequence[Hashable]]],
) -> list[CriterionAgreement]:
    """Measure the agreement by each criterion; a criterion without units has no row.

    A unit is the list of its raters' values, in any order.
    """
    return [
        CriterionAgreement(
            criterion=criterion,
            n=sum(len(unit) > 1 for unit in units),
            unanimous=unanimous_share(units),
            pairwise=pairwise_agreement(units),
            alpha=krippendorff_alpha(units),
        )
        for criterion, units in units_by_criterion.items()
        if units
    ]


def majority(values: Iterable[Value]) -> Value | None:
    """Most frequent value; None for a tie, or without values.

    >>> majority(["keep", "drop", "keep"]), majority(["keep", "drop"])
    ('keep', None)
    """
    counts = Counter(values)
    highest = max(counts.values(), default=0)
    leading = [value for value, count in counts.items() if count == highest]
    return leading[0] if len(leading) == 1 else None


def unanimous_share(units: Iterable[Sequence[Hashable]]) -> float:
    """Share of units with unanimous raters, among units with at least two; NaN without any.

    >>> unanimous_share([["yes", "yes", "yes"], ["yes", "no"], ["no"]])
    0.5
    """
    rated = _multiply_rated(units)
    return sum(len(unit) == 1 for unit in rated) / len(rated) if rated else nan


def pairwise_agreement(units: Iterable[Sequence[Hashable]]) -> float:
    """Mean over units of the share of rater pairs that agree; NaN if no unit has two raters.

    >>> round(pairwise_agreement([["yes", "yes", "no"], ["no", "no"]]), 3)  # (1/3 + 1) / 2
    0.667
    """
    rated = _multiply_rated(units)
    shares = [1 - _n_disagreements(unit) / (unit.total() * (unit.total() - 1)) for unit in rated]
    return sum(shares) / len(shares) if shares else nan


def krippendorff_alpha(units: Iterable[Sequence[Hashable]]) -> float:
    """Krippendorff's alpha for nominal values: 1 - observed / expected disagreement.

    A unit is the list of its raters' values, in any order. Units with fewer than two values are
    left out (Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011, section C). NaN if no
    unit remains, or only one value occurs.

    >>> krippendorff_alpha([["yes", "yes"], ["no", "no"]])
    1.0
    """
    rated = _multiply_rated(units)
    values = Counter(chain.from_iterable(unit.elements() for unit in rated))
    total = values.total()
    expected = _n_disagreements(values) / (total - 1) if total else 0.0
    observed = sum(_n_disagreements(unit) / (unit.total() - 1) for unit in rated)
    return 1 - observed / expected if expected else nan


def _multiply_rated(units: Iterable[Sequence[Hashable]]) -> list[Counter[Hashable]]:
    return [Counter(unit) for unit in units if len(unit) > 1]


def _n_disagreements(values: Counter[Hashable]) -> int:
    """Number of ordered pairs of different values."""
    return values.total() ** 2 - sum(n * n for n in values.values())


_MIN_VARIANCE = 1e-12  # rounding error of a variance


class Kappa(NamedTuple):
    """Cohen's kappa with its 95 % interval; NaN if fewer than two values occur."""

    value: float
    low: float
    high: float
    n: int  # items that both rated

    def __str__(self) -> str:
        """Format kappa with its interval and n."""
        if isnan(self.value):
            return f"no kappa (n = {self.n})"
        return f"kappa {self.value:.2f} ({self.low:.2f} to {self.high:.2f}, n = {self.n})"


def cohen_kappa(pairs: Iterable[tuple[Hashable, Hashable]]) -> Kappa:
    """Cohen's kappa (1960), its interval by Fleiss, Cohen and Everitt (1969).

    Large-sample standard error, equations 13 and 14. If it is 0, as for complete agreement or a
    rater whose values are all the same, the observed agreement is uncertain by the rule of three.

    Args:
        pairs: Values of the first and the second rater for each item.

    >>> both = [("a", "a")] * 20 + [("a", "b")] * 5 + [("b", "a")] * 10 + [("b", "b")] * 15
    >>> round(cohen_kappa(both).value, 3)  # (0.7 - 0.5) / (1 - 0.5)
    0.4
    """
    counts = Counter(pairs)
    n = counts.total()
    categories = sorted({category for pair in counts for category in pair}, key=str)
    if len(categories) < 2:
        return Kappa(value=nan, low=nan, high=nan, n=n)
    shares = {pair: count / n for pair, count in counts.items()}
    first_shares, second_shares = dict.fromkeys(categories, 0.0), dict.fromkeys(categories, 0.0)
    for (first, second), share in shares.items():
        first_shares[first] += share
        second_shares[second] += share
    observed = sum(share for (first, second), share in shares.items() if first == second)
    chance = sum(first_shares[category] * second_shares[category] for category in categories)
    value = (observed - chance) / (1 - chance)
    squares = 0.0
    for (first, second), share in shares.items():
        agreement = 1 - chance if first == second else 0.0
        marginals = second_shares[first] + first_shares[second]
        squares += share * (agreement - marginals * (1 - observed)) ** 2
    square_of_mean = (observed * chance - 2 * chance + observed) ** 2
    variance = (squares - square_of_mean) / (n * (1 - chance) ** 4)
    # By the rule of three, up to 3 of n disagreements may be unseen. Rounding may go below 0.
    unseen = min(1.0, 3 / n) / (1 - chance)
    half_width = unseen if variance < _MIN_VARIANCE else Z * sqrt(variance)
    low, high = max(-1.0, value - half_width), min(1.0, value + half_width)
    return Kappa(value=value, low=low, high=high, n=n)
