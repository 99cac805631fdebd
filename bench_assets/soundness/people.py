"""How each person voted beside the others who voted on the same things.

Agreement is corrected for what the same votes would get by chance, dealt to other things.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import nan, sqrt
from typing import NamedTuple

import numpy as np

from bench_assets.core.agreement import krippendorff_alpha
from bench_assets.core.votes import Vote
from bench_assets.soundness.evidence import Floats


class Person(NamedTuple):
    """How one person voted."""

    name: str
    n: int  # votes on which others voted, too
    agreement: float  # mean share of the others who say the same
    kappa: float  # the same beyond chance; NaN where chance agrees on everything
    z: float  # standard errors above what the same votes, dealt to other things, would get
    one_kappa: float  # standard errors that a kappa of 1 would be
    constant: bool  # says the same of everything
    missed: float  # of one who says the same of everything: votes of the others that are otherwise
    alpha_without: float  # Krippendorff's, of the others alone


def people(votes: Sequence[Vote]) -> list[Person]:
    """Say how each person voted beside the others, by name."""
    whole = by_unit(votes)
    own: dict[str, list[Vote]] = defaultdict(list)
    for vote in votes:
        if len(whole[vote.criterion, vote.item]) > 1:
            own[vote.person].append(vote)
    return [_person(who, cast, whole, votes) for who, cast in sorted(own.items())]


def alpha_of(votes: Sequence[Vote]) -> dict[str, float]:
    """Krippendorff's alpha of each criterion."""
    names = dict.fromkeys(vote.criterion for vote in votes)
    return {name: alpha_over_all([v for v in votes if v.criterion == name]) for name in names}


def by_unit(votes: Iterable[Vote]) -> dict[tuple[str, str], dict[str, str]]:
    """What each person says, by criterion and item; of two votes of one person the last."""
    units: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for vote in votes:
        units[vote.criterion, vote.item][vote.person] = vote.value
    return units


def alpha_over_all(votes: Sequence[Vote]) -> float:
    """Alpha over all criteria: values of two criteria are never the same."""
    units = by_unit(votes)
    return krippendorff_alpha(
        [(where[0], value) for value in unit.values()] for where, unit in units.items()
    )


def _person(
    who: str,
    cast: Sequence[Vote],
    units: Mapping[tuple[str, str], Mapping[str, str]],
    votes: Sequence[Vote],
) -> Person:
    seen = chance = variance = missed = 0.0
    constant = True
    for criterion in dict.fromkeys(vote.criterion for vote in cast):
        about = [vote for vote in cast if vote.criterion == criterion]
        shares, chosen = _beside_others(who, about, units)
        one = _dealt(shares, chosen)
        seen, chance, variance = seen + one.seen, chance + one.chance, variance + one.variance
        constant = constant and len(set(chosen)) == 1
        missed += len(chosen) - one.seen
    n, spread = len(cast), sqrt(variance)
    above = n - chance
    return Person(
        name=who,
        n=n,
        agreement=seen / n,
        kappa=(seen - chance) / above if above > 1e-9 else nan,
        z=(seen - chance) / spread if spread else 0.0,
        one_kappa=above / spread if spread else 0.0,
        constant=constant,
        missed=missed if constant else 0.0,
        alpha_without=alpha_over_all([vote for vote in votes if vote.person != who]),
    )


class _Dealt(NamedTuple):
    seen: float  # sum over votes of the share of the others who say the same
    chance: float  # what it is on average when the person's votes are dealt to other things
    variance: float  # of that


def _beside_others(
    who: str, about: Sequence[Vote], units: Mapping[tuple[str, str], Mapping[str, str]]
) -> tuple[Floats, list[int]]:
    """Share of the others who say each value of each thing, and which value the person says."""
    others = [
        Counter(v for p, v in units[vote.criterion, vote.item].items() if p != who)
        for vote in about
    ]
    values = sorted({v.value for v in about} | {value for counted in others for value in counted})
    shares = np.array([[c[value] / c.total() for value in values] for c in others])
    return shares, [values.index(vote.value) for vote in about]


def _dealt(shares: Floats, chosen: Sequence[int]) -> _Dealt:
    """Mean and variance over all permutations of what was said (Hoeffding, 1951, theorem 2)."""
    n = len(chosen)
    times = np.bincount(chosen, minlength=shares.shape[1])
    seen = float(shares[np.arange(n), chosen].sum())
    chance = float(shares.mean(axis=0) @ times)
    if n < 2:
        return _Dealt(seen, chance, 0.0)
    of_item, of_value = shares @ times / n, shares.mean(axis=0)
    centred = shares - of_item[:, None] - of_value[None, :] + chance / n
    return _Dealt(seen, chance, float((centred**2 @ times).sum() / (n - 1)))
