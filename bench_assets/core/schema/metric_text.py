"""Text of metrics: values, their bounds, intervals and caveats, shares and p-values."""

import re
from math import isnan

from bench_assets.core.schema.rows import LeaderboardRow, Metric, ReadValue
from bench_assets.core.schema.signature import partial_part

FEW_CLUSTERS = 10.0
"""Effective clusters below which an interval is wide and may be off: readers are warned."""

WARNED_UNREAD = 0.02
"""Share of unread responses above which readers are warned, with the next command."""

MOST_UNREAD = 0.1
"""Share of unread responses above which a value is shown as its bounds."""

_ROUNDING = 1e-6  # tolerance of a number of clusters
_LARGE_CLUSTER, _DOMINANCE_FACTOR = 0.1, 2.0
"""A cluster dominates from this share of the weight and this multiple of an equal share."""


def unread_bounds(row: Metric | LeaderboardRow | ReadValue) -> tuple[float, float] | None:
    """The least and the most that a value may be, by its unread responses; None without any."""
    if row.if_unread_wrong is None or row.if_unread_right is None:
        return None
    bounds = sorted((row.value, row.if_unread_wrong, row.if_unread_right))
    return (bounds[0], bounds[-1])


def is_hidden(row: Metric | LeaderboardRow | ReadValue) -> bool:
    """Whether so many responses are unread that a value is only known within its bounds."""
    return (row.unread or 0.0) > MOST_UNREAD and unread_bounds(row) is not None


def shown_interval(row: Metric | LeaderboardRow) -> tuple[float, float] | None:
    """The 95 % interval of a value; None without one, or if bounds stand in the value's place."""
    if row.low is None or row.high is None or isnan(row.low) or is_hidden(row):
        return None
    return row.low, row.high


def format_interval(row: Metric | LeaderboardRow) -> str:
    """Format the interval beside a value; "" without one, as for the chance level."""
    interval = shown_interval(row)
    has_ends = interval is not None and interval[0] < interval[1]
    return f"{interval[0]:.3f} to {interval[1]:.3f}" if interval and has_ends else ""


def format_value(row: Metric | LeaderboardRow | ReadValue) -> str:
    """Format a value with three decimals; as its bounds if too many responses are unread."""
    bounds = unread_bounds(row) if is_hidden(row) else None
    return f"{bounds[0]:.3f} to {bounds[1]:.3f}" if bounds else f"{row.value:.3f}"


def cluster_warning(row: Metric | LeaderboardRow) -> str:
    """Warning about few effective clusters, or one that dominates; "" if there is none."""
    if row.n_clusters is None:
        return ""
    if round(row.n_clusters, 6) < FEW_CLUSTERS:
        number = f"{row.n_clusters:.1f}".removesuffix(".0")
        return f"only {number} effective cluster{'s' * (number != '1')}"
    largest = row.largest_cluster or 0.0
    dominates = largest >= _LARGE_CLUSTER and largest * row.n_clusters >= _DOMINANCE_FACTOR
    return f"one cluster has {largest:.0%} of the weight".replace("%", " %") if dominates else ""


def caveats(row: Metric | LeaderboardRow) -> list[str]:
    """What qualifies a number beside its unread responses and its part of the questions."""
    counts = {
        "unscored": row.n_unscored,
        "without response": row.n_failed,
        "no answer": row.n_no_answer,
        "refused": row.n_refused,
        "rejected": row.n_rejected,
        "expired": row.n_expired,
    }
    notes = [f"{n} {label}" for label, n in counts.items() if n]
    notes += [f"{format_percent(row.asked_again)} asked again"] if row.asked_again else []
    notes += [f"{format_percent(row.named)} only named"] if row.named else []
    is_clustered = (row.n_clusters or 0.0) < (row.n_scored or 0) - _ROUNDING
    notes += [format_mixed(row.signature), cluster_warning(row) if is_clustered else "", row.people]
    return [caveat for caveat in notes if caveat]


def format_caveats(row: Metric | LeaderboardRow) -> str:
    """What qualifies a number, each in brackets."""
    unread = f"{format_unread(row)} unread" if row.unread else ""
    return "".join(f" ({note})" for note in (*caveats(row), unread, format_part(row)) if note)


def format_part(row: Metric | LeaderboardRow) -> str:
    """Format the evaluated part of the questions; "" for all."""
    part = partial_part(row.signature)
    return f"PARTIAL: {part}" if part else ""


def format_percent(share: float | None) -> str:
    """Format a share as a percentage; "" if unknown.

    >>> format_percent(0.0213), format_percent(0.0), format_percent(None)
    ('2.1 %', '0.0 %', '')
    """
    return "" if share is None else f"{share:.1%}".replace("%", " %")


def format_unread(row: Metric | LeaderboardRow) -> str:
    """Format the share of unread responses, with the bounds that it leaves to the value."""
    bounds = unread_bounds(row)
    between = f" ({bounds[0]:.3f} to {bounds[1]:.3f})" if bounds and not is_hidden(row) else ""
    return f"{format_percent(row.unread)}{between}"


def format_p(p: float) -> str:
    """Format a p-value; "" without a test.

    >>> format_p(0.04), format_p(0.0004)
    ('0.040', '< 0.001')
    """
    return "" if isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"


def format_mixed(signature: str | None) -> str:
    """Format the number of models that answered under one name; "" for one.

    >>> format_mixed("t|v1|main|data:0|model:m|judge:none|scorer:r|mixed:2|n:9")
    'mixed: 2 models answered'
    >>> format_mixed("t|v1|main|data:0|model:m|mixed:2|n:2|partial:2 of 4 questions")
    'mixed: 2 models answered'
    """
    behind = r"(?:\|n:\d+)?(?:\|[a-zA-Z_]+)?(?:\|partial:[^|]*)?$"
    match = re.search(rf"\|mixed:(\d+){behind}", signature or "")
    return f"mixed: {match[1]} models answered" if match else ""


def blind(value: float | None) -> str:
    """Format a blind baseline; "" if unknown."""
    return "" if value is None else f"{value:.3f}"
