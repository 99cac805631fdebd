"""What the assets right of the waist show of their tables, besides the first rows."""

from collections.abc import Sequence

from bench_assets.core.markdown import as_text
from bench_assets.core.rows import Metric, Prediction


def replies_shown(rows: Sequence[Prediction]) -> dict[str, int]:
    """Numbers of all replies of a table, remembered ones included."""
    return {
        "replies_failed": sum(bool(row.error) for row in rows),
        "cut_short": sum(row.finish_reason == "length" for row in rows),
        "no_answer": sum(bool(row.no_answer) for row in rows),
        "prompt_tokens": sum(row.prompt_tokens or 0 for row in rows),
        "completion_tokens": sum(row.completion_tokens or 0 for row in rows),
    }


def results_table(rows: Sequence[Metric]) -> str:
    """The metrics as a person would print them: a line a category, a column a metric."""
    names = list(dict.fromkeys(row.metric for row in rows))
    cells = {(row.category, row.metric): row for row in rows}
    lines = [f"| | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    for category in dict.fromkeys(row.category for row in rows):
        shown = [_cell(cells[category, name]) for name in names]
        lines.append(f"| {as_text(category)} | {' | '.join(shown)} |")
    return "\n".join(lines)


def _cell(row: Metric) -> str:
    left = f" ({row.n_failed} without reply)" if row.n_failed else ""
    left += f" ({row.n_no_answer} no answer)" if row.n_no_answer else ""
    values = {"constant": blind(row.constant), "shuffled": blind(row.shuffled)}
    left += "".join(f", {name} {value}" for name, value in values.items() if value)
    return f"{row.value:.3f} [{row.low:.3f}, {row.high:.3f}] n={row.n_scored}{left}"


def blind(value: float | None) -> str:
    """What is scored without looking, for a column; empty where it is not known."""
    return "" if value is None else f"{value:.3f}"
