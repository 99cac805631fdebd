"""Measures like those of the suites, and one that is not a mean."""

from collections.abc import Iterable

from bench_assets.core.stats.means import Mean, ScoredPoint, macro_mean, mean
from bench_assets.evaluation.task import ScoredQuestion


def accuracy(scored: Iterable[ScoredQuestion]) -> Mean:
    return mean(ScoredPoint(row.score.points) for row in scored)


def both_halves(scored: Iterable[ScoredQuestion]) -> Mean:
    """CODIS's acc_p: the share of groups of two with both answers right."""
    groups: dict[str, list[float]] = {}
    for row in scored:
        assert row.score.points is not None
        groups.setdefault(row.question.group_id, []).append(row.score.points)
    return mean(
        ScoredPoint(min(points)) if len(points) == 2 else ScoredPoint(None)
        for points in groups.values()
    )


def macro(scored: Iterable[ScoredQuestion]) -> Mean:
    """BLINK's accuracy: the mean of the categories' means."""
    parts: dict[str, list[ScoredPoint]] = {}
    for row in scored:
        parts.setdefault(row.question.category, []).append(ScoredPoint(row.score.points))
    return macro_mean(parts.values())


def squared(scored: Iterable[ScoredQuestion]) -> Mean:
    """The square of the accuracy, which no set of points has as its mean."""
    value = accuracy(scored).value ** 2
    return mean([ScoredPoint(value)])
