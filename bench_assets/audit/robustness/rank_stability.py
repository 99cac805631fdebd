"""Rank stability: model pairs whose order depends on the scorer."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from statistics import fmean
from typing import NamedTuple

import numpy as np

from bench_assets.core.stats.paired_tests import PairedScores, change, interval

Points = Mapping[str, float]  # of a model, by question: share of its points

_SURE = 1e-9  # product of two leads whose signs are no matter of rounding


class RankFlip(NamedTuple):
    """Two models whose order is sure as their responses are read now, and not if read otherwise."""

    better: str
    worse: str
    now: float  # by how much the better one leads
    then: float  # by how much it leads then; below 0: it does not


def turned(
    now: Mapping[str, Points], then: Mapping[str, Points], cluster: Mapping[str, str]
) -> Iterator[RankFlip]:
    """Find the pairs of models whose order is sure now, and another one then.

    Sure is what a paired 95 % interval over the questions that both answered says. Models that
    are not told apart now have no order that could turn.

    Args:
        now: Model -> points, as they are read.
        then: The same, read otherwise.
        cluster: Question -> what it depends on.
    """
    leads, leads_then = _leads(now), _leads(then)
    for one, other in combinations(sorted(now), 2):
        if leads[one, other] * leads_then[one, other] > _SURE:
            continue  # in the same order: an interval, which takes long, would change nothing
        both = [question for question in now[one] if question in now[other]]
        later = [question for question in then[one] if question in then[other]]
        if not both or not later:
            continue
        before = [PairedScores(now[other][q], now[one][q], cluster[q]) for q in both]
        low, high = interval(before)
        lead = change(before)
        after = fmean(then[one][q] - then[other][q] for q in later)
        if low > 0 > after:
            yield RankFlip(one, other, lead, after)
        if high < 0 < after:
            yield RankFlip(other, one, -lead, -after)


def _leads(points: Mapping[str, Points]) -> dict[tuple[str, str], float]:
    """Mean lead of each model over each later one, where both have points; 0 where none."""
    column = {name: n for n, name in enumerate({q for of in points.values() for q in of})}
    rows = {model: np.full(len(column), np.nan) for model in points}
    for model, of in points.items():
        rows[model][[column[name] for name in of]] = list(of.values())
    leads = {}
    for one, other in combinations(sorted(points), 2):
        apart = rows[one] - rows[other]
        both = apart[~np.isnan(apart)]
        leads[one, other] = float(both.mean()) if both.size else 0.0
    return leads
