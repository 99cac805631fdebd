"""Display of runs: tables in a terminal; tables, plots and samples in a notebook."""

import sys
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import isnan
from pathlib import Path
from typing import Any

from bench_assets.comparison.results import Result
from bench_assets.core.images.charts import line_ends, scale_end
from bench_assets.core.images.drawing import encode_png
from bench_assets.core.schema.errors import ImageError
from bench_assets.core.schema.rows import Metric
from bench_assets.core.text.escaping import escape_controls, escape_to_one_line
from bench_assets.python_api.samples import SampleImage
from bench_assets.report.site.addresses import number_page, served_address
from bench_assets.workspace.console.output import (
    Cell,
    format_results,
    format_table,
    in_notebook,
    output_width,
    table_text,
)
from bench_resources.config.environment import default_home

_WIDTH = 120  # characters of a line of a table, outside a terminal
_BAR = 160  # px, width of the drawing of an interval
_THUMBNAIL = 320  # px, the longer side
_TEXT_FIELDS = ("prompt", "response", "answer", "expected", "score", "why")
_STYLE = "border:1px solid #d1d5db;border-radius:6px;padding:8px;margin:6px 0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A plot as SVG, shown inline in notebooks; ``save`` writes it."""

    svg: str
    n_rows: int

    def save(self, path: str | Path) -> None:
        """Write the SVG file."""
        Path(path).write_text(self.svg, encoding="utf-8")

    def __repr__(self) -> str:
        """Describe the plot and how to save it."""
        return f'Plot of {self.n_rows} rows; save it by .save("plot.svg")'

    def _repr_html_(self) -> str:
        """Show the plot inline as HTML, because notebooks do not trust SVG."""
        return self.svg


def terminal_table(title: str, rows: Sequence[Any], columns: Mapping[str, Cell]) -> str:
    """Format rows as a table below a title."""
    width = output_width() if sys.stdout.isatty() else _WIDTH
    table = table_text(format_table(rows, columns, width), width) if rows else "(no rows)"
    return f"{escape_controls(title)}\n{table}"


def results_text(results: Sequence[Result]) -> str:
    """Format results as ``bench evaluate`` does."""
    return format_results(results, output_width() if sys.stdout.isatty() else _WIDTH)


def results_html(results: Sequence[Result], *, linked: bool) -> str:
    """Format results as HTML, each with an interval bar; ``linked`` to a served report's pages."""
    served = served_address(default_home())
    blocks = []
    for result in results:
        page = escape(served + number_page(result.row.task, result.row.model, result.row.condition))
        title = escape(escape_to_one_line(result.title))
        title = f'<a href="{page}" target="_blank">{title}</a>' if linked else title
        facts = "".join(
            f"<tr><th>{escape(label)}</th><td>{escape(escape_to_one_line(text))}</td></tr>"
            for label, text in result.facts
        )
        bar = interval_bar(result.row, scale_end([result.row]))
        blocks.append(f"<div><b>{title}</b><br>{bar}<table>{facts}</table></div>")
    return "".join(blocks)


def html_rows(title: str, rows: Sequence[Any], columns: Mapping[str, Cell]) -> str:
    """Format rows as an HTML table below a title."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = ""
    for row in rows:
        texts = [escape(escape_to_one_line(cell(row))) for cell in columns.values()]
        cells = "".join(f"<td>{text}</td>" for text in texts)
        body += f"<tr>{cells}</tr>"
    return (
        f"<div><b>{escape(escape_to_one_line(title))}</b><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def interval_bar(row: Metric, full: float) -> str:
    """Draw a value with its 95 % interval or its bounds; the best constant response is a tick.

    ``full`` is the value at the right end of the bar. NaN has no bar: "".
    """
    if isnan(row.value):
        return ""
    low, high, middle = (_bar_position(value, full) for value in (*line_ends(row), row.value))
    tick = ""
    if row.constant is not None:
        left = _bar_position(row.constant, full)
        tick = f'<path d="M{left:.1f} 0v16" stroke="#c2410c" stroke-width="2"/>'
    return (
        f'<svg viewBox="0 0 {_BAR} 16" width="{_BAR}" role="img" aria-label="interval">'
        f'<path d="M0 8H{_BAR}" stroke="#d1d5db"/>'
        f'<path d="M{low:.1f} 8H{high:.1f}" stroke="#2563eb" stroke-width="6"/>'
        f'<circle cx="{middle:.1f}" cy="8" r="4" fill="#1e3a8a"/>{tick}</svg>'
    )


def _bar_position(value: float, full: float) -> float:
    """Position of a value in px, within the bar; NaN is at the left end."""
    share = 0.0 if isnan(value) else value / full
    return _BAR * min(1.0, max(0.0, share))


def show_samples(samples: Sequence[Mapping[str, Any]]) -> None:
    """Show samples: inline in a notebook, else as text."""
    if in_notebook():
        from IPython.display import HTML, display

        display(HTML("".join(map(sample_html, samples)) or "no sample"))
        return
    sys.stdout.write(escape_controls("\n\n".join(map(sample_text, samples)) or "no sample") + "\n")


def sample_text(sample: Mapping[str, Any]) -> str:
    """Format a sample as text, with the digests of its images."""
    lines = [f"{sample['question_id']}  {sample['category']}".rstrip()]
    lines += [f"  image {n}: {image.sha256}" for n, image in enumerate(sample["images"], 1)]
    for name in _TEXT_FIELDS:
        text = _field_text(sample, name).replace("\n", "\n    ")
        if text:
            lines.append(f"  {name}: {text}")
    return "\n".join(lines)


def sample_html(sample: Mapping[str, Any]) -> str:
    """Format a sample as HTML, with its images embedded; a right one has a green border."""
    colour = "#15803d" if sample["is_right"] else "#b91c1c"
    images = "".join(map(_image_html, sample["images"]))
    texts = {name: _field_text(sample, name) for name in _TEXT_FIELDS}
    rows = "".join(
        f'<tr><th style="text-align:left;vertical-align:top">{name}</th>'
        f'<td style="text-align:left;white-space:pre-wrap">{escape(text)}</td></tr>'
        for name, text in texts.items()
        if text
    )
    head = escape(f"{sample['question_id']} {sample['category']}".strip())
    return (
        f'<div style="{_STYLE};border-left:4px solid {colour}"><b>{head}</b><div>{images}</div>'
        f"<table>{rows}</table></div>"
    )


def _field_text(sample: Mapping[str, Any], name: str) -> str:
    if name != "score":
        return str(sample[name] or "")
    points = sample["score"]
    if points is None or isnan(points):
        return "not scored"
    return f"{points:g} of {sample['max_score']:g}"


def _image_html(image: SampleImage) -> str:
    """Format an image as an embedded thumbnail, or as the reason why there is none."""
    try:
        thumbnail = image.open()
    except ImageError as error:
        return f"<i>{escape(str(error))}</i>"
    thumbnail.thumbnail((_THUMBNAIL, _THUMBNAIL))
    data = b64encode(encode_png(thumbnail)).decode()
    return (
        f'<img alt="" style="margin:4px;display:inline-block" src="data:image/png;base64,{data}">'
    )
