"""A model's profile over the fourteen tasks, as a table and as images (Figure 4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import cos, isnan, pi, sin

from bench_assets.core.images.charts import svg
from bench_assets.core.schema.rows import Metric

_SIZE = 560  # px, of the square that the radar is drawn in
_RADIUS = 180  # px, of 100 %
_ROW = 24  # px, of a bar with its gap
_BARS = 260  # px, from the left edge to where bars begin
_FULL = 260  # px, of a bar of 100 %
_COLOUR = "#2563eb"
_GREY = "#9ca3af"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskAccuracy:
    """How well a model does on one task."""

    task: str
    accuracy: float  # NaN if nothing could be scored
    low: float  # ends of the 95 % interval
    high: float
    chance: float
    n: int


def task_accuracies(metrics: Sequence[Metric]) -> list[TaskAccuracy]:
    """Put accuracy and chance of each task side by side, tasks in the order of the metrics."""
    chance = {row.category: row.value for row in metrics if row.metric == "chance"}
    return [
        TaskAccuracy(
            task=row.category,
            accuracy=row.value,
            low=row.low,
            high=row.high,
            chance=chance[row.category],
            n=row.n_scored,
        )
        for row in metrics
        if row.metric == "accuracy" and row.category != "all"
    ]


def radar(profile: Sequence[TaskAccuracy], title: str) -> str:
    """Draw accuracies as a radar: an axis a task, chance in grey; SVG.

    A task without a value lies in the centre.
    """
    rings = "".join(
        f'<circle cx="{_SIZE / 2}" cy="{_SIZE / 2}" r="{_RADIUS * share}" fill="none" '
        f'stroke="{_GREY}" stroke-width="0.5"/>'
        for share in (0.25, 0.5, 0.75, 1.0)
    )
    names = "".join(
        _text(x, y, one.task.replace("_", " "), "middle")
        for number, one in enumerate(profile)
        for x, y in [_at(number, len(profile), 1.18)]
    )
    chance = _polygon([one.chance for one in profile], f'stroke="{_GREY}" fill="none"')
    model = _polygon([one.accuracy for one in profile], f'stroke="{_COLOUR}" fill="{_COLOUR}33"')
    return svg(_SIZE, _SIZE, rings + chance + model + names + _text(8, 16, title, "start"))


def bars(profile: Sequence[TaskAccuracy], title: str) -> str:
    """Draw accuracies as bars with their 95 % intervals, chance as a tick; SVG."""
    drawn = "".join(
        _bar(one, 36 + number * _ROW) for number, one in enumerate(profile) if not isnan(one.low)
    )
    names = "".join(
        _text(_BARS - 8, 48 + number * _ROW, one.task.replace("_", " "), "end")
        for number, one in enumerate(profile)
    )
    height = 48 + len(profile) * _ROW
    return svg(_BARS + _FULL + 60, height, drawn + names + _text(8, 16, title, "start"))


def _bar(one: TaskAccuracy, top: float) -> str:
    middle, tick = top + 8, _BARS + _FULL * one.chance
    return (
        f'<rect x="{_BARS}" y="{top}" width="{_FULL * one.accuracy:.1f}" height="16" '
        f'fill="{_COLOUR}"/>'
        f'<path d="M{_BARS + _FULL * one.low:.1f} {middle}H{_BARS + _FULL * one.high:.1f}'
        f'M{tick:.1f} {top - 2}v20" stroke="#111827" stroke-width="1.5"/>'
        + _text(_BARS + _FULL + 8, top + 12, f"{one.accuracy:.1%}", "start")
    )


def _at(number: int, n: int, share: float) -> tuple[float, float]:
    """Where an axis has a share of its length: the first axis points up, the next go clockwise."""
    angle = 2 * pi * number / n - pi / 2
    reach = _RADIUS * share
    return _SIZE / 2 + reach * cos(angle), _SIZE / 2 + reach * sin(angle)


def _polygon(shares: Sequence[float], style: str) -> str:
    corners = [
        _at(number, len(shares), 0.0 if isnan(share) else share)
        for number, share in enumerate(shares)
    ]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    return f'<polygon points="{points}" {style}/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
