"""Charts as SVG: bars with intervals, and changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import isfinite, isnan

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
_ROW = 24  # px, of a bar with its gap
_TOP = 40  # px, above the first bar
_MAX_LABEL_LENGTH = 36  # of a label
_BLUE, _INK, _ORANGE, _GREY = "#2563eb", "#111827", "#c2410c", "#6b7280"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A bar: its value and labels."""

    label: str
    row: Metric
    full: float = 1.0  # the value at the end of its scale
    chance: float | None = None


def bar_chart(lines: Sequence[Bar], title: str) -> str:
    """Draw values as bars with their 95 % intervals; chance and the best constant as ticks."""
    bars = "".join(_bar(line, _TOP + number * _ROW) for number, line in enumerate(lines))
    legend = "line: 95 % interval; orange: best constant response; grey, dashed: chance"
    head = _text(8, 16, title) + _text(_LABEL, 30, legend, _GREY)
    return render_svg(_LABEL + _BAR_WIDTH + 170, _TOP + len(lines) * _ROW + 8, head + bars)


def difference_chart(lines: Sequence[tuple[str, float, float, float]], title: str) -> str:
    """Draw changes with their 95 % intervals around a line at 0.

    Args:
        lines: Label, change, lower and upper end of its interval.
        title: Title of the chart.
    """
    ends = [abs(end) for _, *of_one in lines for end in of_one if isfinite(end)]
    most, middle = max(ends, default=1.0) or 1.0, _LABEL + _BAR_WIDTH / 2
    bottom = _TOP + len(lines) * _ROW
    bars = "".join(_change(line, most, _TOP + n * _ROW + 8) for n, line in enumerate(lines))
    zero = f'<path d="M{middle:.1f} {_TOP - 4}V{bottom}" stroke="{_GREY}" stroke-dasharray="3 2"/>'
    head = _text(8, 16, title) + _text(_LABEL, 30, "change with its 95 % interval", _GREY)
    return render_svg(_LABEL + _BAR_WIDTH + 170, bottom + 8, head + zero + bars)


def _change(line: tuple[str, float, float, float], most: float, y: float) -> str:
    label, *of_one = line
    value, low, high = (
        _LABEL + _BAR_WIDTH / 2 * (1 + (end if isfinite(end) else of_one[0]) / most)
        for end in of_one
    )
    cut = escape_to_one_line(label)
    cut = cut if len(cut) <= _MAX_LABEL_LENGTH else f"{cut[: _MAX_LABEL_LENGTH - 1]}…"
    known = "{:+.3f} [{:+.3f}, {:+.3f}]" if isfinite(of_one[1]) else "{:+.3f}"
    value_label = known.format(*of_one)
    return (
        f"{_text(_LABEL - 8, y + 4, cut, anchor='end')}"
        f'<path d="M{low:.1f} {y}H{high:.1f}" stroke="{_BLUE}" stroke-width="3"/>'
        f'<circle cx="{value:.1f}" cy="{y}" r="4" fill="{_BLUE}"/>'
        f"{_text(_LABEL + _BAR_WIDTH + 8, y + 4, value_label)}"
    )


def scale(rows: Sequence[Metric]) -> float:
    """Upper end of a metric's scale: 1, or higher for larger values."""
    ends = [
        value
        for row in rows
        for value in (row.value, row.high, row.constant)
        if value is not None and not isnan(value)
    ]
    return max(1.0, *ends) if ends else 1.0


def _bar(one: Bar, top: float) -> str:
    row, middle = one.row, top + 8
    label = escape_to_one_line(one.label) + (f" (to {one.full:.3g})" if one.full > 1 else "")
    cut = label if len(label) <= _MAX_LABEL_LENGTH else f"{label[: _MAX_LABEL_LENGTH - 1]}…"
    name = _text(_LABEL - 8, top + 12, cut, anchor="end")
    if isnan(row.value):
        return name + _text(_LABEL + 8, top + 12, "nothing could be scored", _GREY)
    ends, style = shown_interval(row), f'fill="{_BLUE}"'
    if is_hidden(row):
        style = f'fill="white" stroke="{_BLUE}"'
    left, right = (_x_position(end, one.full) for end in line_ends(row))
    interval = (
        f'<path d="M{left:.1f} {middle}H{right:.1f}M{left:.1f} {top + 4}v8M{right:.1f} {top + 4}v8"'
        f' stroke="{_INK}" stroke-width="1.5"/>'
    )
    beside = f" [{ends[0]:.3f}, {ends[1]:.3f}]" if ends else ""
    return (
        f'{name}<rect x="{_LABEL}" y="{top}"'
        f' width="{_x_position(row.value, one.full) - _LABEL:.1f}" '
        f'height="16" {style}/>'
        + ("" if isnan(row.low) else interval)
        + _tick(one.chance, one.full, top, f'stroke="{_GREY}" stroke-dasharray="3 2"')
        + _tick(row.constant, one.full, top, f'stroke="{_ORANGE}"')
        + _text(_LABEL + _BAR_WIDTH + 8, top + 12, f"{format_value(row)}{beside} n={row.n_scored}")
    )


def line_ends(row: Metric) -> tuple[float, float]:
    """Ends of the line at a value: of its bounds if it is only known within them."""
    bounds = unread_bounds(row) if is_hidden(row) else None
    return bounds or (row.low, row.high)


def _tick(value: float | None, full: float, top: float, style: str) -> str:
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


def render_svg(width: float, height: float, drawn: str) -> str:
    """Render on white, in px; narrower where there is less room, at the same proportions."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" style="max-width:100%" '
        f'font-family="sans-serif" font-size="11">'
        f'<rect width="100%" height="100%" fill="white"/>{drawn}</svg>'
    )
