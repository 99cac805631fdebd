"""Metadata of evaluation assets: previews, plots and throughput."""

import base64
from collections.abc import Mapping, Sequence
from math import isnan

import dagster as dg

from bench_assets.core.images.charts import Bar, bar_chart, scale
from bench_assets.core.schema.metric_text import blind, format_caveats, format_value, shown_interval
from bench_assets.core.schema.rows import Metric, Prediction, Rejection
from bench_assets.core.text.escaping import escape_markdown

_BARS = 24  # slices drawn; the table has all
_REJECTIONS = 100  # rejected rows shown
_REJECTION_COLUMNS = dg.TableSchema([dg.TableColumn("entry"), dg.TableColumn("reason")])


def rejection_metadata(rejections: Sequence[Rejection]) -> dict[str, dg.MetadataValue]:
    """Rows that a step rejected, as metadata of the table of the others: number, first ones, why.

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
        chance: Chance level of ``primary`` by slice, if known and not a metric itself.
    """
    (first, *_) = [row for row in rows if (row.metric, row.category) == (primary, "all")]
    chances = {row.category: row.value for row in rows if row.metric == "chance"}
    if chance is not None and not chances:
        chances = {row.category: chance for row in rows}
    overall = [row for row in rows if row.category == "all" and row.metric != "chance"]
    slices = [row for row in rows if row.metric == primary and row.category != "all"]
    ends = {row.metric: scale([r for r in rows if r.metric == row.metric]) for row in rows}
    lines = [
        *(
            Bar(label=r.metric, row=r, full=ends[r.metric], chance=_chance_of(r, chances))
            for r in overall
        ),
        *(
            Bar(label=r.category, row=r, full=ends[primary], chance=chances.get(r.category))
            for r in slices[:_BARS]
        ),
    ]
    title = f"{first.model}: metrics over all questions, then {primary} of each slice"
    paragraphs = [_sentence(first, chances.get("all")), _image(bar_chart(lines, title), "bars")]
    if len(slices) > _BARS:
        paragraphs.append(f"{len(slices) - _BARS} more slices are in the table.")
    return "\n\n".join(paragraphs)


def _chance_of(row: Metric, chances: Mapping[str, float]) -> float | None:
    """Select the chance level: only accuracies have one."""
    return chances.get("all") if row.metric.startswith("accuracy") else None


def _sentence(row: Metric, chance: float | None) -> str:
    if isnan(row.value):
        return f"{escape_markdown(row.metric)}: nothing could be scored."
    baselines = {"chance": chance, "the best constant response": row.constant}
    known = [f"{name} has {value:.3f}" for name, value in baselines.items() if value is not None]
    against = f"; {', '.join(known)}" if known else ""
    failed = f" {row.n_failed} questions have no response." if row.n_failed else ""
    unscored = f" ({row.n_unscored} unscored)" if row.n_unscored else ""
    text = (
        f"**{escape_markdown(row.metric)} {format_value(row)}**{_interval(row)}, n={row.n_scored}"
    )
    return f"{text}{unscored}{against}.{failed}"


def _image(svg: str, what: str) -> str:
    return f"![{what}](data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()})"


def _cell(row: Metric | None) -> str:
    if row is None:  # a metric over all questions alone, such as the calibration error
        return ""
    left = format_caveats(row)
    values = {"constant": blind(row.constant), "shuffled": blind(row.shuffled)}
    left += "".join(f", {name} {value}" for name, value in values.items() if value)
    return f"{format_value(row)}{_interval(row)} n={row.n_scored}{left}"


def _interval(row: Metric) -> str:
    interval = shown_interval(row)
    return f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval else ""
