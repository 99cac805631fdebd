"""Annotators of a benchmark: the agreement of each with the others.

Each annotator is compared with the others on the same items, with agreement corrected for chance
(by permuting votes over items). At least three annotators are needed. Their speed and drift are
printed by ``bench annotate quality``.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import isnan, nan, sqrt
from statistics import median
from typing import NamedTuple

import numpy as np

from bench_assets.audit.framework.evidence import Evidence, Floats
from bench_assets.audit.framework.findings import (
    AuditFinding,
    SkippedCheckError,
    Suspect,
    audit_check,
)
from bench_assets.core.schema.rows import Vote
from bench_assets.core.stats.rater_agreement import krippendorff_alpha, mean_alpha


class AnnotatorAgreement(NamedTuple):
    """Votes of one person."""

    name: str
    n: int  # votes on items that others voted on, too
    agreement: float  # mean share of the others who agree
    kappa: float  # agreement beyond chance; NaN if chance agreement is 1
    z: float  # standard errors above the agreement of the same votes permuted over items
    one_kappa: float  # z of a kappa of 1
    constant: bool  # gives all items of a criterion the same value
    missed: float  # if constant: sum over items of the share of others who disagree


def annotator_agreements(votes: Sequence[Vote]) -> list[AnnotatorAgreement]:
    """Collect each annotator's votes with those of the others, by name."""
    units = votes_by_unit(votes)
    votes_by_person: dict[str, list[Vote]] = defaultdict(list)
    for vote in votes:
        if len(units[vote.criterion, vote.unit]) > 1:
            votes_by_person[vote.person].append(vote)
    return [
        _annotator_agreement(person, own_votes, units)
        for person, own_votes in sorted(votes_by_person.items())
    ]


def alpha_of(votes: Iterable[Vote]) -> dict[str, float]:
    """Krippendorff's alpha of each criterion."""
    return {name: krippendorff_alpha(units) for name, units in _values_by_criterion(votes).items()}


def _values_by_criterion(votes: Iterable[Vote]) -> dict[str, list[list[str]]]:
    """The values of each item, by criterion."""
    values: dict[str, list[list[str]]] = defaultdict(list)
    for (criterion, _), unit_votes in votes_by_unit(votes).items():
        values[criterion].append(list(unit_votes.values()))
    return values


def votes_by_unit(votes: Iterable[Vote]) -> dict[tuple[str, str], dict[str, str]]:
    """Votes of each person, by criterion and item; the last of several votes counts."""
    units: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for vote in votes:
        units[vote.criterion, vote.unit][vote.person] = vote.value
    return units


def _annotator_agreement(
    person: str,
    votes: Sequence[Vote],
    units: Mapping[tuple[str, str], Mapping[str, str]],
) -> AnnotatorAgreement:
    observed = chance = variance = missed = 0.0
    constant = True
    for criterion in dict.fromkeys(vote.criterion for vote in votes):
        criterion_votes = [vote for vote in votes if vote.criterion == criterion]
        shares, chosen = _others_shares(person, criterion_votes, units)
        agreement = _permuted_agreement(shares, chosen)
        observed, chance, variance = (
            observed + agreement.seen,
            chance + agreement.chance,
            variance + agreement.variance,
        )
        constant = constant and len(set(chosen)) == 1
        missed += len(chosen) - agreement.seen
    n, spread = len(votes), sqrt(variance)
    max_excess = n - chance
    return AnnotatorAgreement(
        name=person,
        n=n,
        agreement=observed / n,
        kappa=(observed - chance) / max_excess if max_excess > 1e-9 else nan,
        z=(observed - chance) / spread if spread else 0.0,
        one_kappa=max_excess / spread if spread else 0.0,
        constant=constant,
        missed=missed if constant else 0.0,
    )


class _PermutedAgreement(NamedTuple):
    seen: float  # sum over votes of the share of the others who agree
    chance: float  # mean of ``seen`` when the person's votes are permuted over items
    variance: float  # of ``seen`` under permutation


def _others_shares(
    person: str, votes: Sequence[Vote], units: Mapping[tuple[str, str], Mapping[str, str]]
) -> tuple[Floats, list[int]]:
    """Share of the others who chose each value, (items, values); and the person's values."""
    other_shares = [
        Counter(v for p, v in units[vote.criterion, vote.unit].items() if p != person)
        for vote in votes
    ]
    values = sorted(
        {v.value for v in votes} | {value for counted in other_shares for value in counted}
    )
    shares = np.array([[c[value] / c.total() for value in values] for c in other_shares])
    return shares, [values.index(vote.value) for vote in votes]


def _permuted_agreement(shares: Floats, chosen: Sequence[int]) -> _PermutedAgreement:
    """Mean and variance over all permutations of the votes (Hoeffding, 1951, theorem 2)."""
    n = len(chosen)
    times = np.bincount(chosen, minlength=shares.shape[1])
    observed = float(shares[np.arange(n), chosen].sum())
    chance = float(shares.mean(axis=0) @ times)
    if n < 2:
        return _PermutedAgreement(observed, chance, 0.0)
    of_item, of_value = shares @ times / n, shares.mean(axis=0)
    centred = shares - of_item[:, None] - of_value[None, :] + chance / n
    return _PermutedAgreement(observed, chance, float((centred**2 @ times).sum() / (n - 1)))


NO_VOTES = "no table has individual votes"

_PEOPLE = 3  # of two who disagree, either may be the outlier
_CHANCE_Z = 1.645  # standard errors: one in twenty random voters exceeds it
_MIN_CONCLUSIVE_Z = 4.5  # least z at the others' kappa; with less, 1.645 is not conclusive
_RARE_DISSENT, _MAX_DISSENT_RATIO = (
    0.1,
    2.5,
)  # if the others rarely dissent, up to 2.5 times that is usual
_MIN_VOTES = 10  # fewest deviating votes of a person who gives one value


@audit_check("annotators_at_chance", "Do any annotators vote at random?")
def agreement_finding(evidence: Evidence) -> AuditFinding:
    """Find annotators whose agreement with the others is at, or close to, chance."""
    votes = list(evidence.votes)
    if skip_reason := _skip_reason(votes):
        raise SkippedCheckError(skip_reason)
    agreements = annotator_agreements(votes)
    usual = {
        annotator.name: _others_agreement(
            annotator_agreements([v for v in votes if v.person != annotator.name])
        )
        for annotator in agreements
    }
    blind = [
        annotator for annotator in agreements if _is_at_chance(annotator, usual[annotator.name])
    ]
    alpha = alpha_of(votes)
    per_criterion = ", ".join(f"{name} {value:.2f}" for name, value in alpha.items())
    return AuditFinding(
        sentence=(
            f"{len(blind)} of {len(agreements)} annotators agree with the others no better than"
            " chance,"
            " or less than a third as well as those agree."
            f" Krippendorff's alpha: {per_criterion}."
        ),
        n=len(votes),
        suspects=[_suspect(annotator, votes, usual[annotator.name].kappa) for annotator in blind],
    )


def _skip_reason(votes: Sequence[Vote]) -> str:
    if not votes:
        return NO_VOTES
    n = len({vote.person for vote in votes})
    return "" if n >= _PEOPLE else f"{n} annotators; {_PEOPLE} are needed"


class _OthersAgreement(NamedTuple):
    """Agreement of all other annotators among themselves."""

    kappa: float  # median
    apart: float  # median share of the others who disagree


def _others_agreement(others: Sequence[AnnotatorAgreement]) -> _OthersAgreement:
    kappas = [annotator.kappa for annotator in others if not isnan(annotator.kappa)]
    disagreements = [1 - annotator.agreement for annotator in others]
    return _OthersAgreement(
        median(kappas) if kappas else nan, median(disagreements) if disagreements else nan
    )


def _is_at_chance(one: AnnotatorAgreement, usual: _OthersAgreement) -> bool:
    """Whether an annotator is close to chance where the others are not."""
    if one.constant:
        return one.missed >= _MIN_VOTES and usual.kappa > 0.2
    # If nearly all votes are equal, a few that differ make a kappa of 0: an annotator who dissents
    # about as rarely as the others is not at chance.
    dissents = 1 - one.agreement
    if usual.apart < _RARE_DISSENT and dissents < _MAX_DISSENT_RATIO * usual.apart:
        return False
    # also if all others gave one value: NaN
    if not usual.kappa * one.one_kappa >= _MIN_CONCLUSIVE_Z:
        return False
    at_most = one.kappa + _CHANCE_Z / one.one_kappa
    return one.z < _CHANCE_Z or at_most < usual.kappa / 3


def _suspect(one: AnnotatorAgreement, votes: Sequence[Vote], usual: float) -> Suspect:
    if one.constant:
        reason = f"gives the same value to all, {one.missed:.0f} times unlike the others"
    else:
        reason = f"kappa with the others {one.kappa:.2f}, theirs {usual:.2f}"
    other_votes = (vote for vote in votes if vote.person != one.name)
    alpha, alpha_without = (
        mean_alpha(_values_by_criterion(of).values()) for of in (votes, other_votes)
    )
    alphas = f"alpha {alpha:.2f}, without them {alpha_without:.2f}"
    return Suspect(one.name, f"{reason}; {alphas} (n = {one.n})", max(usual - one.kappa, 0.0))
