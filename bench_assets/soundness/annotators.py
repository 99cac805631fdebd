"""The people who made a benchmark: whether each looked at what he voted on.

It takes three people: of two who disagree nobody knows which one looked.
"""

from collections import defaultdict
from collections.abc import Sequence
from math import isnan, nan, sqrt
from statistics import median
from typing import NamedTuple

import numpy as np

from bench_assets.core.votes import Vote
from bench_assets.soundness.evidence import Evidence
from bench_assets.soundness.examined import Finding, Suspect
from bench_assets.soundness.people import Person, alpha_of, alpha_over_all, by_unit, people

NO_VOTES = "no table keeps who voted what"

_PEOPLE = 3  # without a third nobody knows which of two looked
_ABOVE_CHANCE = 1.645  # standard errors: one in twenty who clicks gets so far
_SURE = 4.5  # standard errors that the others' agreement would give: so that 1.645 tells apart
_SELDOM, _MORE_APART = 0.1, 2.5  # who dissents seldom is compared with how often the others do
_ENOUGH = 10  # votes of a person that a median, or a half, takes at the least
_FASTER = 3.0  # times as fast as the others is too fast to look
_DROP = 0.1  # of the share of others who agree; less is no matter
_DROP_SURE = 2.9  # standard errors: one false alarm in 500 people


def agreement_finding(evidence: Evidence) -> Finding:
    """Find people who agree with the others no more than chance does, or next to it."""
    votes = list(evidence.votes)
    if why := _cannot_be_compared(votes):
        return Finding.not_looked_at(why)
    found = people(votes)
    usual = {
        one.name: _usual_of(people([v for v in votes if v.person != one.name])) for one in found
    }
    blind = [one for one in found if _is_at_chance(one, usual[one.name])]
    alpha = alpha_of(votes)
    per_criterion = ", ".join(f"{name} {value:.2f}" for name, value in alpha.items())
    return Finding(
        passed=not blind,
        sentence=(
            f"{len(blind)} of {len(found)} people agree with the others no more than chance does,"
            " or less than a third as much as they do."
            f" Krippendorff's alpha: {per_criterion}."
        ),
        n=len(votes),
        suspects=[_suspect(one, alpha_over_all(votes), usual[one.name].kappa) for one in blind],
    )


def speed_finding(evidence: Evidence) -> Finding:
    """Find people who vote in less than a third of the time that the others take."""
    taken: dict[str, list[float]] = defaultdict(list)
    for vote in evidence.votes:
        if vote.seconds is not None:
            taken[vote.person].append(vote.seconds)
    middle = {who: median(times) for who, times in taken.items() if len(times) >= _ENOUGH}
    if len(middle) < _PEOPLE:
        return Finding.not_looked_at(
            NO_VOTES if not evidence.votes else "the votes have no seconds of three people"
        )
    fast = [
        Suspect(who, f"median {own:.1f} s a vote; the others {usual:.1f} s", usual / max(own, 0.01))
        for who, own in middle.items()
        for usual in [median(other for name, other in middle.items() if name != who)]
        if own * _FASTER < usual
    ]
    return Finding(
        passed=not fast,
        sentence=f"{len(fast)} of {len(middle)} people vote three times as fast as the others.",
        n=sum(map(len, taken.values())),
        suspects=fast,
    )


def drift_finding(evidence: Evidence) -> Finding:
    """Find people who agree with the others less in the second half of their votes."""
    votes = [vote for vote in evidence.votes if vote.at]
    if not votes:
        return Finding.not_looked_at("the votes have no time" if evidence.votes else NO_VOTES)
    if why := _cannot_be_compared(votes):
        return Finding.not_looked_at(why)
    drifting, n_people = [], 0
    for who, shares in sorted(_shares_in_time(votes).items()):
        half = len(shares) // 2
        if half < _ENOUGH:
            continue
        n_people += 1
        before, after = np.array(shares[:half]), np.array(shares[half:])
        drop = float(before.mean() - after.mean())
        error = sqrt(before.var(ddof=1) / len(before) + after.var(ddof=1) / len(after))
        if drop > _DROP and drop > _DROP_SURE * error:
            said = (
                f"agrees with {before.mean():.2f} of the others at first, {after.mean():.2f} then"
            )
            drifting.append(Suspect(who, said, drop))
    return Finding(
        passed=not drifting,
        sentence=f"{len(drifting)} of {n_people} people agree less in the second half of votes.",
        n=len(votes),
        suspects=drifting,
    )


def _cannot_be_compared(votes: Sequence[Vote]) -> str:
    if not votes:
        return NO_VOTES
    n = len({vote.person for vote in votes})
    return "" if n >= _PEOPLE else f"{n} people voted; it takes {_PEOPLE}"


class _Usual(NamedTuple):
    """How people agree who are not the one that is looked at, among themselves."""

    kappa: float
    apart: float  # share of the others who say otherwise


def _usual_of(others: Sequence[Person]) -> _Usual:
    kappas = [one.kappa for one in others if not isnan(one.kappa)]
    apart = [1 - one.agreement for one in others]
    return _Usual(median(kappas) if kappas else nan, median(apart) if apart else nan)


def _is_at_chance(one: Person, usual: _Usual) -> bool:
    """Whether somebody is hardly better than chance, where one like the others would be."""
    if one.constant:
        return one.missed >= _ENOUGH and usual.kappa > 0.2
    # Where nearly all is yes, a few lone doubts make a kappa of 0: who dissents about as seldom as
    # the others do has looked.
    dissents = 1 - one.agreement
    if usual.apart < _SELDOM and dissents < _MORE_APART * usual.apart:
        return False
    if usual.kappa * one.one_kappa < _SURE:
        return False
    at_most = one.kappa + _ABOVE_CHANCE / one.one_kappa
    return one.z < _ABOVE_CHANCE or at_most < usual.kappa / 3


def _suspect(one: Person, alpha: float, usual: float) -> Suspect:
    if one.constant:
        said = f"says the same of everything, {one.missed:.0f} times otherwise than the others"
    else:
        said = f"kappa with the others {one.kappa:.2f}, theirs {usual:.2f}"
    without = f"alpha {alpha:.2f}, without them {one.alpha_without:.2f}"
    return Suspect(one.name, f"{said}; {without} (n = {one.n})", max(usual - one.kappa, 0.0))


def _shares_in_time(votes: Sequence[Vote]) -> dict[str, list[float]]:
    """By person, in the order of voting: share of the others who say the same."""
    units = by_unit(votes)
    found: dict[str, list[float]] = defaultdict(list)
    for vote in sorted(votes, key=lambda vote: vote.at):
        others = [v for p, v in units[vote.criterion, vote.item].items() if p != vote.person]
        if others:
            found[vote.person].append(others.count(vote.value) / len(others))
    return found
