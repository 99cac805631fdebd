"""Rank stability: model pairs whose order depends on unread responses."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from statistics import fmean
from typing import NamedTuple

import numpy as np

from bench_assets.core.stats.paired_tests import PairedScores, change_interval, mean_change

Points = Mapping[str, float]  # of a model, by question: share of its points

_MIN_LEAD_PRODUCT = 1e-9  # product of two leads above which their signs are no rounding error


class RankFlip(NamedTuple):
    """Two models whose order is significant under some scores and reversed under others."""

    better: str
    worse: str
    now: float  # lead of the better model
    then: float  # its lead under the other scores; below 0: reversed


def find_rank_flips(
    now: Mapping[str, Points], then: Mapping[str, Points], cluster: Mapping[str, str]
) -> Iterator[RankFlip]:
    """Find pairs of models with a significant order that other scores reverse.

    Significant by a paired 95 % interval over common questions.
    """
    leads, leads_then = _mean_leads(now), _mean_leads(then)
    for combination, other in combinations(sorted(now), 2):
        if leads[combination, other] * leads_then[combination, other] > _MIN_LEAD_PRODUCT:
            continue  # in the same order: skip the slow interval
        common = [question for question in now[combination] if question in now[other]]
        common_then = [question for question in then[combination] if question in then[other]]
        if not common or not common_then:
            continue
        before = [PairedScores(now[other][q], now[combination][q], cluster[q]) for q in common]
        low, high = change_interval(before)
        lead = mean_change(before)
        after = fmean(then[combination][q] - then[other][q] for q in common_then)
        if low > 0 > after:
            yield RankFlip(combination, other, lead, after)
        if high < 0 < after:
            yield RankFlip(other, combination, -lead, -after)


def _mean_leads(points: Mapping[str, Points]) -> dict[tuple[str, str], float]:
    """Mean lead of each model over each later one on common questions; 0 without any."""
    column = {name: n for n, name in enumerate({q for of in points.values() for q in of})}
    rows = {model: np.full(len(column), np.nan) for model in points}
    for model, of in points.items():
        rows[model][[column[name] for name in of]] = list(of.values())
    leads = {}
    for combination, other in combinations(sorted(points), 2):
        differences = rows[combination] - rows[other]
        is_measured = differences[~np.isnan(differences)]
        leads[combination, other] = float(is_measured.mean()) if is_measured.size else 0.0
    return leads
