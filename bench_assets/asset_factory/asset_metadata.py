"""Metadata of evaluation assets: previews, plots and throughput."""

import base64
from collections.abc import Mapping, Sequence
from math import isnan

import dagster as dg

from bench_assets.core.images.charts import Bar, bar_chart, scale_end
from bench_assets.core.schema.metric_text import (
    format_blind,
    format_caveats,
    format_value,
    shown_interval,
)
from bench_assets.core.schema.rows import Metric, Prediction, Rejection
from bench_assets.core.text.escaping import escape_markdown

_BARS = 24  # slices that are drawn; the table has all
_REJECTIONS = 100  # rejected rows that are shown
_REJECTION_COLUMNS = dg.TableSchema([dg.TableColumn("entry"), dg.TableColumn("reason")])


def rejection_metadata(rejections: Sequence[Rejection]) -> dict[str, dg.MetadataValue]:
    """Metadata of a table about the rows that its step rejected: their number, and the first ones.

    For rejections that no metric counts; those of a task's questions are a table.
    """
    shown = [
        dg.TableRecord({"entry": row.entry, "reason": row.reason})
        for row in rejections[:_REJECTIONS]
    ]
    return {
        "rejected": dg.MetadataValue.int(len(rejections)),
        "rejections": dg.MetadataValue.table(shown, schema=_REJECTION_COLUMNS),
    }


def throughput_metadata(rows: Sequence[Prediction]) -> dict[str, int]:
    """Throughput figures of a table's responses, cached ones included."""
    return {
        "responses_failed": sum(bool(row.error) for row in rows),
        "cut_short": sum(row.finish_reason == "length" for row in rows),
        "no_answer": sum(bool(row.no_answer) for row in rows),
        "refused": sum(bool(row.refused) for row in rows),
        "prompt_tokens": sum(row.prompt_tokens or 0 for row in rows),
        "completion_tokens": sum(row.completion_tokens or 0 for row in rows),
    }


def results_table(rows: Sequence[Metric]) -> str:
    """Format metrics as a table: one row per category, one column per metric."""
    names = list(dict.fromkeys(row.metric for row in rows))
    cells = {(row.category, row.metric): row for row in rows}
    lines = [f"| | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    for category in dict.fromkeys(row.category for row in rows):
        formatted = [_cell(cells.get((category, name))) for name in names]
        lines.append(f"| {escape_markdown(category)} | {' | '.join(formatted)} |")
    return "\n".join(lines)


def results_page(rows: Sequence[Metric], primary: str, chance: float | None = None) -> str:
    """Format one model's metrics as a page: a sentence, and bars.

    Args:
        rows: All metrics; at least one is ``primary`` over all questions.
        primary: The metric of the leaderboard.
        chance: Chance level of ``primary``, the same in each slice; unused if it is a metric.
    """
    primary_row = next(row for row in rows if row.metric == primary and row.category == "all")
    chances = {row.category: row.value for row in rows if row.metric == "chance"}
    if chance is not None and not chances:
        chances = {row.category: chance for row in rows}
    slices = [row for row in rows if row.metric == primary and row.category != "all"]
    overall = [row for row in rows if row.category == "all" and row.metric != "chance"]
    full = _full_scale(rows, primary)
    bars = [
        *(_overall_bar(row, rows, chances) for row in overall),
        *(
            Bar(label=row.category, row=row, full=full, chance=chances.get(row.category))
            for row in slices[:_BARS]
        ),
    ]
    title = f"{primary_row.model}: metrics over all questions, then {primary} of each slice"
    paragraphs = [
        _sentence(primary_row, chances.get("all")),
        _markdown_image(bar_chart(bars, title), "bars"),
    ]
    if len(slices) > _BARS:
        paragraphs.append(f"The table has more slices: {len(slices) - _BARS}.")
    return "\n\n".join(paragraphs)


def _overall_bar(row: Metric, rows: Sequence[Metric], chances: Mapping[str, float]) -> Bar:
    """Build the bar of a metric over all questions; only accuracies have a chance level."""
    chance = chances.get("all") if row.metric.startswith("accuracy") else None
    return Bar(label=row.metric, row=row, full=_full_scale(rows, row.metric), chance=chance)


def _full_scale(rows: Sequence[Metric], metric: str) -> float:
    """Value at which a bar of the metric is full."""
    return scale_end([row for row in rows if row.metric == metric])


def _sentence(row: Metric, chance: float | None) -> str:
    """Format a metric over all questions as a sentence, with its baselines and missing rows."""
    if isnan(row.value):
        return f"{escape_markdown(row.metric)}: nothing could be scored."
    baselines = {"chance": chance, "the best constant response": row.constant}
    comparisons = [
        f"{name} has {value:.3f}" for name, value in baselines.items() if value is not None
    ]
    text = (
        f"**{escape_markdown(row.metric)} {format_value(row)}**{_interval(row)}, n={row.n_scored}"
    )
    unscored = f" ({row.n_unscored} unscored)" if row.n_unscored else ""
    comparison = f"; {', '.join(comparisons)}" if comparisons else ""
    failed = f" {row.n_failed} questions have no response." if row.n_failed else ""
    return f"{text}{unscored}{comparison}.{failed}"


def _markdown_image(svg: str, alt_text: str) -> str:
    return f"![{alt_text}](data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()})"


def _cell(row: Metric | None) -> str:
    if row is None:  # a metric over all questions alone, such as the calibration error
        return ""
    notes = format_caveats(row)
    baselines = {"constant": format_blind(row.constant), "shuffled": format_blind(row.shuffled)}
    notes += "".join(f", {name} {value}" for name, value in baselines.items() if value)
    return f"{format_value(row)}{_interval(row)} n={row.n_scored}{notes}"


def _interval(row: Metric) -> str:
    interval = shown_interval(row)
    if not interval:
        return ""
    low, high = interval
    return f" [{low:.3f}, {high:.3f}]"
