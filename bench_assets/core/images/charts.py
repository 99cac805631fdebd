"""Charts as SVG: bars with intervals, and curves of training runs."""

from collections.abc import Mapping, Sequence
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
_TOP = 40  # px, above the first bar, and above a curve
_HEIGHT = 200  # px, of a curve
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


def training_curve(steps: Mapping[int, Metric], here: int, title: str) -> str:
    """Draw a run: one dot per step with its 95 % interval, and the best constant as a line.

    A dot is hollow, and its bounds are drawn, where more than a tenth of the responses is unread.

    Args:
        steps: Metrics by step, in order; at least one.
        here: The step to mark by a ring.
        title: Title of the chart.
    """
    least, most = min(steps), max(steps)
    full = scale(list(steps.values()))
    across = {
        step: _LABEL / 4 + (_BAR_WIDTH + _LABEL) * (step - least) / max(1, most - least)
        for step in steps
    }
    path = " ".join(
        f"{across[step]:.1f},{_y_position(row.value, full):.1f}" for step, row in steps.items()
    )
    dots = "".join(_dot(across[step], row, full, step == here) for step, row in steps.items())
    axis = _text(8, _y_position(full, full) + 4, f"{full:.3g}") + _text(
        8, _y_position(0, full) + 4, "0"
    )
    ends = "".join(
        _text(across[step], _TOP + _HEIGHT + 18, f"{step}", anchor="middle")
        for step in dict.fromkeys((least, here, most))
    )
    constant = steps[here].constant
    level = "" if constant is None else _level(_y_position(constant, full))
    line = f'<polyline points="{path}" fill="none" stroke="{_BLUE}" stroke-width="1.5"/>'
    content = _text(8, 16, title) + axis + ends + level + line + dots
    return render_svg(_LABEL + _BAR_WIDTH + 170, _TOP + _HEIGHT + 30, content)


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


def _dot(x: float, row: Metric, full: float, is_here: bool) -> str:
    low, high, middle = (_y_position(value, full) for value in (*line_ends(row), row.value))
    size, fill = (6 if is_here else 3, "white" if is_here or is_hidden(row) else _BLUE)
    value_label = _text(x, middle - 12, format_value(row), anchor="middle") if is_here else ""
    interval = (
        f'<path d="M{x:.1f} {low:.1f}V{high:.1f}" stroke="{_BLUE}" stroke-opacity="0.4" '
        'stroke-width="3"/>'
    )
    return (
        f'{"" if isnan(row.low) else interval}<circle cx="{x:.1f}" cy="{middle:.1f}" r="{size}" '
        f'fill="{fill}" stroke="{_BLUE}" stroke-width="2"/>{value_label}'
    )


def _level(y: float) -> str:
    left, right = _LABEL / 4, _LABEL * 1.25 + _BAR_WIDTH
    return (
        f'<path d="M{left:.1f} {y:.1f}H{right:.1f}" stroke="{_ORANGE}" stroke-dasharray="5 3"/>'
        + _text(right + 6, y + 4, "best constant", _ORANGE)
    )


def _x_position(value: float, full: float) -> float:
    """Position of a value from the left edge, clipped to the scale."""
    share = 0.0 if isnan(value) else value / full
    return _LABEL + _BAR_WIDTH * min(1.0, max(0.0, share))


def _y_position(value: float, full: float) -> float:
    share = 0.0 if isnan(value) else value / full
    return _TOP + _HEIGHT * (1 - max(0.0, share))


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
