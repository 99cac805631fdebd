"""Charts as SVG: bars with intervals, and changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import isfinite, isnan
from typing import NamedTuple

from bench_assets.core.schema.metric_text import (
    format_value,
    is_hidden,
    shown_interval,
    unread_bounds,
)
from bench_assets.core.schema.rows import Metric
from bench_assets.core.text.escaping import escape_to_one_line

_LABEL = 250  # px, from the left edge to where bars begin
_BAR_WIDTH = 300  # px, of a bar that reaches the end of its scale
_WIDTH = _LABEL + _BAR_WIDTH + 170  # px, of a chart
_ROW = 24  # px, of a bar with its gap
_TOP = 40  # px, above the first bar
_MAX_LABEL_LENGTH = 36  # characters of a label
_BLUE, _INK, _ORANGE, _GREY = "#2563eb", "#111827", "#c2410c", "#6b7280"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A bar: its value and labels."""

    label: str
    row: Metric
    full: float = 1.0  # the value at the end of its scale
    chance: float | None = None


class Change(NamedTuple):
    """A change with its 95 % interval, whose ends are not finite if it has none."""

    label: str
    value: float
    low: float
    high: float


def bar_chart(bars: Sequence[Bar], title: str) -> str:
    """Draw values as bars with their 95 % intervals; chance and the best constant as ticks."""
    rows = "".join(_draw_bar(bar, _TOP + index * _ROW) for index, bar in enumerate(bars))
    legend = "line: 95 % interval; orange: best constant response; grey, dashed: chance"
    head = _text(8, 16, title) + _text(_LABEL, 30, legend, _GREY)
    return render_svg(_WIDTH, _TOP + len(bars) * _ROW + 8, head + rows)


def difference_chart(changes: Sequence[Change], title: str) -> str:
    """Draw changes with their 95 % intervals around a line at 0."""
    numbers = [number for change in changes for number in (change.value, change.low, change.high)]
    end = max((abs(number) for number in numbers if isfinite(number)), default=0.0) or 1.0
    middle, bottom = _LABEL + _BAR_WIDTH / 2, _TOP + len(changes) * _ROW
    rows = "".join(
        _draw_change(change, end, _TOP + index * _ROW + 8) for index, change in enumerate(changes)
    )
    zero = f'<path d="M{middle:.1f} {_TOP - 4}V{bottom}" stroke="{_GREY}" stroke-dasharray="3 2"/>'
    head = _text(8, 16, title) + _text(_LABEL, 30, "change with its 95 % interval", _GREY)
    return render_svg(_WIDTH, bottom + 8, head + zero + rows)


def _draw_change(change: Change, end: float, y: float) -> str:
    """Draw a dot on its interval, between -``end`` and ``end``."""
    label, value, low, high = change
    x, left, right = (
        _LABEL + _BAR_WIDTH / 2 * (1 + (number if isfinite(number) else value) / end)
        for number in (value, low, high)
    )
    interval = f" [{low:+.3f}, {high:+.3f}]" if isfinite(low) else ""
    return (
        f"{_text(_LABEL - 8, y + 4, _shorten(escape_to_one_line(label)), anchor='end')}"
        f'<path d="M{left:.1f} {y}H{right:.1f}" stroke="{_BLUE}" stroke-width="3"/>'
        f'<circle cx="{x:.1f}" cy="{y}" r="4" fill="{_BLUE}"/>'
        f"{_text(_LABEL + _BAR_WIDTH + 8, y + 4, f'{value:+.3f}{interval}')}"
    )


def _shorten(label: str) -> str:
    return label if len(label) <= _MAX_LABEL_LENGTH else f"{label[: _MAX_LABEL_LENGTH - 1]}…"


def scale_end(rows: Sequence[Metric]) -> float:
    """Upper end of a metric's scale: the largest of 1, values, interval ends and constants."""
    values = [value for row in rows for value in (row.value, row.high, row.constant)]
    known = [value for value in values if value is not None and not isnan(value)]
    return max([1.0, *known])


def _draw_bar(bar: Bar, top: float) -> str:
    row, middle = bar.row, top + 8
    label = escape_to_one_line(bar.label) + (f" (to {bar.full:.3g})" if bar.full > 1 else "")
    name = _text(_LABEL - 8, top + 12, _shorten(label), anchor="end")
    if isnan(row.value):
        return name + _text(_LABEL + 8, top + 12, "nothing could be scored", _GREY)
    style = f'fill="white" stroke="{_BLUE}"' if is_hidden(row) else f'fill="{_BLUE}"'
    left, right = (_x_position(end, bar.full) for end in line_ends(row))
    interval = (
        f'<path d="M{left:.1f} {middle}H{right:.1f}M{left:.1f} {top + 4}v8M{right:.1f} {top + 4}v8"'
        f' stroke="{_INK}" stroke-width="1.5"/>'
    )
    ends = shown_interval(row)
    interval_label = " [{:.3f}, {:.3f}]".format(*ends) if ends else ""
    value_label = f"{format_value(row)}{interval_label} n={row.n_scored}"
    return (
        f'{name}<rect x="{_LABEL}" y="{top}"'
        f' width="{_x_position(row.value, bar.full) - _LABEL:.1f}" '
        f'height="16" {style}/>'
        + ("" if isnan(row.low) else interval)
        + _tick(bar.chance, bar.full, top, f'stroke="{_GREY}" stroke-dasharray="3 2"')
        + _tick(row.constant, bar.full, top, f'stroke="{_ORANGE}"')
        + _text(_LABEL + _BAR_WIDTH + 8, top + 12, value_label)
    )


def line_ends(row: Metric) -> tuple[float, float]:
    """Ends of the line at a value: its interval, or its bounds if it is only known within them."""
    bounds = unread_bounds(row) if is_hidden(row) else None
    return bounds or (row.low, row.high)


def _tick(value: float | None, full: float, top: float, style: str) -> str:
    """A vertical line across the bar at a value; "" without one."""
    if value is None or isnan(value):
        return ""
    return f'<path d="M{_x_position(value, full):.1f} {top - 3}v22" {style} stroke-width="2"/>'


def _x_position(value: float, full: float) -> float:
    """Position of a value from the left edge, clipped to the scale."""
    share = 0.0 if isnan(value) else value / full
    return _LABEL + _BAR_WIDTH * min(1.0, max(0.0, share))


def _text(x: float, y: float, text: str, colour: str = _INK, anchor: str = "start") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}">'
        f"{escape(escape_to_one_line(text))}</text>"
    )


def render_svg(width: float, height: float, content: str) -> str:
    """Render on white, in px; narrower where there is less room, at the same proportions."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" style="max-width:100%" '
        f'font-family="sans-serif" font-size="11">'
        f'<rect width="100%" height="100%" fill="white"/>{content}</svg>'
    )
