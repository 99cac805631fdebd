"""Text of metrics: values, their bounds, intervals and caveats, shares and p-values."""

from math import isnan

from bench_assets.core.schema.rows import LeaderboardRow, Metric, ReadValue
from bench_assets.core.schema.signature import partial_part, signature_part

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
    """Lowest and highest possible value, given the unread responses; None without any.

    The value is NaN if no response has points.
    """
    if row.if_unread_wrong is None or row.if_unread_right is None:
        return None
    ends = row.if_unread_wrong, row.if_unread_right
    values = ends if isnan(row.value) else (row.value, *ends)
    return min(values), max(values)


def is_hidden(row: Metric | LeaderboardRow | ReadValue) -> bool:
    """Whether so many responses are unread that a value is only known within its bounds."""
    return (row.unread or 0.0) > MOST_UNREAD and unread_bounds(row) is not None


def shown_interval(row: Metric | LeaderboardRow) -> tuple[float, float] | None:
    """The 95 % interval of a value; None without one, or if bounds stand in the value's place."""
    if row.low is None or row.high is None or isnan(row.low) or is_hidden(row):
        return None
    return row.low, row.high


def format_interval(row: Metric | LeaderboardRow) -> str:
    """Format the interval beside a value; "" without one, or if it has no width (chance level)."""
    interval = shown_interval(row)
    if interval is None:
        return ""
    low, high = interval
    return f"{low:.3f} to {high:.3f}" if low < high else ""


def format_value(row: Metric | LeaderboardRow | ReadValue) -> str:
    """Format a value with three decimals; as its bounds if too many responses are unread."""
    bounds = unread_bounds(row) if is_hidden(row) else None
    return f"{bounds[0]:.3f} to {bounds[1]:.3f}" if bounds else f"{row.value:.3f}"


def cluster_warning(row: Metric | LeaderboardRow) -> str:
    """Warning about few effective clusters of dependent units, or one that dominates; or ""."""
    if row.n_clusters is None or row.n_clusters > (row.n_scored or 0) - _ROUNDING:
        return ""
    if round(row.n_clusters, 6) < FEW_CLUSTERS:
        n_clusters = f"{row.n_clusters:.1f}".removesuffix(".0")
        noun = "cluster" if n_clusters == "1" else "clusters"
        return f"only {n_clusters} effective {noun}"
    largest = row.largest_cluster or 0.0
    if largest < _LARGE_CLUSTER or largest * row.n_clusters < _DOMINANCE_FACTOR:
        return ""
    return f"one cluster has {largest:.0%} of the weight".replace("%", " %")


def caveats(row: Metric | LeaderboardRow) -> list[str]:
    """Notes that qualify a number, except for its unread responses and a partial evaluation."""
    counts = {
        "unscored": row.n_unscored,
        "without response": row.n_failed,
        "no answer": row.n_no_answer,
        "refused": row.n_refused,
        "rejected": row.n_rejected,
        "expired": row.n_expired,
    }
    notes = [f"{n} {label}" for label, n in counts.items() if n]
    if row.asked_again:
        notes.append(f"{format_percent(row.asked_again)} asked again")
    if row.named:
        notes.append(f"{format_percent(row.named)} only named")
    notes.append(format_mixed(row.signature))
    notes += [cluster_warning(row), row.people]
    return [note for note in notes if note]


def format_caveats(row: Metric | LeaderboardRow) -> str:
    """Format all notes that qualify a number, each in brackets."""
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
    """Format the share of unread responses; with the value's bounds, unless they replace it."""
    share, bounds = format_percent(row.unread), unread_bounds(row)
    if bounds is None or is_hidden(row):
        return share
    low, high = bounds
    return f"{share} ({low:.3f} to {high:.3f})"


def format_p(p: float) -> str:
    """Format a p-value; "" without a test.

    >>> format_p(0.04), format_p(0.0004)
    ('0.040', '< 0.001')
    """
    if isnan(p):
        return ""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def format_mixed(signature: str | None) -> str:
    """Format the number of models that answered under one name; "" for one.

    >>> format_mixed("t|v1|main|data:0|model:m|judge:none|scorer:r|mixed:2|n:9")
    'mixed: 2 models answered'
    """
    n_models = signature_part(signature or "", "mixed")
    return f"mixed: {n_models} models answered" if n_models else ""


def format_blind(value: float | None) -> str:
    """Format the value of a blind baseline; "" if unknown."""
    return "" if value is None else f"{value:.3f}"
