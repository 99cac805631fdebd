"""Output of ``bench``: tables, or JSON lines; control characters in the data are escaped."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from itertools import groupby
from typing import Any, TypeAlias

import typer
from rich.console import Console
from rich.table import Table

from bench_assets.asset_factory.asset_metadata import (
    blind,
    format_mixed,
    format_percent,
    format_unread,
)
from bench_assets.core.schema.rows import (
    LeaderboardRow,
    Metric,
    cluster_warning,
    format_interval,
    format_value,
)
from bench_assets.core.schema.signature import partial_part
from bench_assets.core.tables.arrow import to_json
from bench_assets.core.text.escaping import (
    escape_controls,
    escape_json_controls,
    escape_to_one_line,
)
from bench_resources.response_cache.notebook_progress import in_notebook
from bench_resources.response_cache.throughput import ProgressStyle

Cell: TypeAlias = Callable[[Any], str]

_LONGEST = 100  # characters of a cell
_ROUNDING = 1e-6  # tolerance of a number of clusters
_PIPE_WIDTH = 250  # characters of a line, without a terminal


def progress_style() -> ProgressStyle:
    """Choose how to show progress: a bar only in a terminal."""
    if in_notebook():
        return "in a notebook"
    return "as a bar" if sys.stderr.isatty() else "as lines"


def print_message(text: str) -> None:
    """Print a message that is not part of the result, on standard error."""
    message = escape_controls(text)
    wraps = in_notebook()  # terminals wrap lines themselves
    Console(stderr=True, highlight=False, soft_wrap=not wraps, emoji=False).print(
        message, markup=False
    )


def print_result(text: str) -> None:
    """Print a line of the result on standard output."""
    typer.echo(escape_controls(text))


def print_json_result(value: Any) -> None:  # noqa: ANN401
    """Print a value of the result as one line of JSON."""
    typer.echo(escape_json_controls(json.dumps(value, ensure_ascii=False)))


def print_rows(
    rows: Sequence[Any], *, as_json: bool, columns: Mapping[str, Cell] | None = None
) -> None:
    """Print rows as JSON lines with all fields, or as a table of the given columns."""
    if as_json:
        for row in rows:
            print_json_result(_as_json(row))
        return
    if not rows:
        print_message("(no rows)")
        return
    print_table(table_of(rows, columns or {f.name: _field(f.name) for f in fields(rows[0])}))


def _as_json(row: object) -> Any:  # noqa: ANN401
    """All fields of a row; of a number also its ``partial``, if it is one."""
    values = to_json(row)
    part = partial_part(row.signature) if isinstance(row, Metric | LeaderboardRow) else ""
    return {**values, "partial": part} if part else values


def table_of(rows: Sequence[Any], columns: Mapping[str, Cell]) -> Table:
    """Format rows as a table of printable cells."""
    table = Table(*map(escape_to_one_line, columns), box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(escape_to_one_line(cell(row)) for cell in columns.values()))
    return table


def print_table(table: Table) -> None:
    """Print a table of printable cells, as wide as the terminal if there is one."""
    wide = None if sys.stdout.isatty() else _PIPE_WIDTH
    Console(highlight=False, markup=False, emoji=False, width=wide).print(table)


def _count(row: Metric | LeaderboardRow) -> str:
    parts = [str(row.n_scored)]
    parts += [f"{row.n_unscored} unscored"] if row.n_unscored else []
    parts += [f"PARTIAL: {part}"] if (part := partial_part(row.signature)) else []
    parts += [f"PARTIAL: {row.n_failed} without response"] if row.n_failed else []
    parts += [f"{row.n_no_answer} no answer"] if row.n_no_answer else []
    parts += [f"{format_percent(row.asked_again)} asked again"] if row.asked_again else []
    parts += [f"{format_percent(row.named)} named"] if row.named else []
    parts += [f"{row.n_refused} refused"] if row.n_refused else []
    parts += [mixed] if (mixed := format_mixed(row.signature)) else []
    parts += [f"{row.n_rejected} rejected"] if row.n_rejected else []
    parts += [f"{row.n_expired} expired"] if row.n_expired else []
    is_clustered = (row.n_clusters or 0.0) < (row.n_scored or 0) - _ROUNDING
    parts += [warning] if is_clustered and (warning := cluster_warning(row)) else []
    parts += [row.people] if row.people else []
    return ", ".join(parts)


METRIC_COLUMNS: Mapping[str, Cell] = {
    "model": lambda row: row.model,
    "task": lambda row: row.task,
    "condition": lambda row: row.condition,
    "metric": lambda row: row.metric,
    "category": lambda row: row.category,
    "value": format_value,
    "95 % interval": format_interval,
    "constant": lambda row: blind(row.constant),
    "shuffled": lambda row: blind(row.shuffled),
    "unread": format_unread,
    "n": _count,
}

LEADERBOARD_COLUMNS: Mapping[str, Cell] = {
    "model": lambda row: row.model,
    "value": format_value,
    "95 % interval": format_interval,
    "ranks": lambda row: row.ranks,
    "constant": lambda row: blind(row.constant),
    "shuffled": lambda row: blind(row.shuffled),
    "unread": format_unread,
    "n": lambda row: "" if row.n_scored is None else _count(row),
    "source": lambda row: row.shown_source,
}


def print_leaderboard(rows: Sequence[LeaderboardRow], *, as_json: bool) -> None:
    """Print leaderboard rows as JSON lines, or as one table per task and edition."""
    if as_json:
        print_rows(rows, as_json=True)
        return

    def heading(row: LeaderboardRow) -> str:
        return f"{row.task}, {row.metric}, {row.edition} edition"

    for title, part in groupby(rows, heading):
        print_result(f"\n{title}")
        print_rows(list(part), as_json=False, columns=LEADERBOARD_COLUMNS)


def _field(name: str) -> Cell:
    def cell(row: Any) -> str:  # noqa: ANN401
        value = getattr(row, name)
        if isinstance(value, tuple):
            value = " | ".join(map(str, value))
        text = "" if value is None else str(value)
        text = f"{value:.3f}" if isinstance(value, float) else escape_to_one_line(text)
        return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"

    return cell
