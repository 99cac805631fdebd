"""Output of ``bench``: tables, or JSON lines; control characters in the data are escaped."""

import json
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import groupby
from textwrap import TextWrapper, fill, wrap
from typing import TYPE_CHECKING, Any, TypeAlias

import typer
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from bench_assets.core.schema.metric_text import (
    caveats,
    format_blind,
    format_interval,
    format_part,
    format_percent,
    format_value,
    is_hidden,
    unread_bounds,
)
from bench_assets.core.schema.rows import LeaderboardRow, Metric
from bench_assets.core.schema.signature import partial_part
from bench_assets.core.tables.arrow import to_json
from bench_assets.core.text.escaping import (
    escape_controls,
    escape_json_controls,
    escape_to_one_line,
)
from bench_resources.response_cache.throughput import ProgressStyle

if TYPE_CHECKING:
    from bench_assets.comparison.results import Result

Cell: TypeAlias = Callable[[Any], str]
_Columns: TypeAlias = dict[str, list[str]]

_LONGEST = 100  # characters of a cell
_SHORT, _MODEL = 16, 36  # characters of cells, and of models, that are broken last
_GAP, _NARROWEST = 2, 10  # characters between columns, and of a column with longer cells
_REMARKS = frozenset({"part", "notes", "source"})
_SHARED = (
    "model",
    "task",
    "condition",
    "metric",
    "part",
    "notes",
    "source",
)  # columns that a title may replace
_LEVELS = ("constant", "shuffled")
_NUMBER = ("value", "95 % interval")
_GROUP = 2  # rows of a group that has a table of its own, on average
_BREAKS = re.compile(r"(\s+|(?<=[/_,])(?=[a-zA-Z]))")  # where a cell may be broken
_PIPE_WIDTH = 250  # characters of a line, without a terminal


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return bool(shell and shell.has_trait("kernel"))


def progress_style() -> ProgressStyle:
    """Choose how to show progress: a bar only in a terminal."""
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


def print_sentence(text: str) -> None:
    """Print a sentence of the result, broken between words where the terminal ends."""
    print_result(fill(text, output_width(), break_long_words=False, break_on_hyphens=False))


def print_json_result(value: Any) -> None:  # noqa: ANN401
    """Print a value of the result as one line of JSON."""
    typer.echo(escape_json_controls(json.dumps(value, ensure_ascii=False)))


def print_rows(
    rows: Sequence[Any], *, as_json: bool, columns: Mapping[str, Cell] | None = None
) -> None:
    """Print rows as JSON lines with all fields, or as a table of the given columns.

    Fields that would be columns of less than ten characters are printed below each other.
    """
    if as_json:
        for row in rows:
            print_json_result(_as_json(row))
        return
    if not rows:
        print_message("(no rows)")
        return
    every = {f.name: _field(f.name) for f in fields(rows[0])}
    width, n = output_width(), len(every)
    is_wide = sum(max(len(cell(row)) for row in rows) for cell in every.values()) > width - _GAP * n
    if columns or not is_wide or (_NARROWEST + _GAP) * n <= width:
        print_table(table_of(rows, columns or every, width))
        return
    for row in rows:
        lines = [f"{name}: {text}" for name, cell in every.items() if (text := cell(row))]
        print_result("\n".join([*lines, ""]))


def _as_json(row: object) -> Any:  # noqa: ANN401
    """All fields of a row; of a number also its ``partial``, if it is one."""
    values = to_json(row)
    part = partial_part(row.signature) if isinstance(row, Metric | LeaderboardRow) else ""
    return {**values, "partial": part} if part else values


def table_of(rows: Sequence[Any], columns: Mapping[str, Cell], width: int) -> RenderableType:
    """Format rows as a table of printable cells; nothing is cut off.

    Columns without a value are left out; names that all rows share are the title. If ``width``
    characters do not suffice, remarks stand below the table and intervals beside the value; then
    baselines that all rows share are in the title, and each model, task or metric has a table of
    its own. Last, long cells are broken, between words if possible.
    """
    cells = {
        name: [escape_to_one_line(cell(row)) for row in rows] for name, cell in columns.items()
    }
    return Group(*_tables(cells, width))


def _tables(columns: _Columns, width: int) -> Iterator[RenderableType]:
    """Title, table and remarks; those of each group of rows if they are too wide together."""
    columns = {name: cells for name, cells in columns.items() if any(cells)} or columns
    n_rows = len(next(iter(columns.values())))
    is_wide = sum(map(_longest, columns.items())) + _GAP * (len(columns) - 1) > width
    is_named = n_rows > 1 or is_wide  # else a title would be all that there is
    shared = [n for n in _SHARED if is_named and n in columns and len({*columns[n]}) == 1]
    table = _without(shared, columns) or columns
    below: list[list[str]] = []
    if is_wide and not table.keys() <= _REMARKS:
        below = [cells for name, cells in table.items() if name in _REMARKS]
        table = _without(_REMARKS, table)
    if _is_tight(table, width) and {*_NUMBER} <= table.keys():
        joined = [" ".join(pair).strip() for pair in zip(*map(table.get, _NUMBER), strict=True)]
        table = {name: joined if name == _NUMBER[0] else table[name] for name in table}
        table = {", ".join(_NUMBER) if n == _NUMBER[0] else n: table[n] for n in table}
        table = _without(_NUMBER, table)
    levels = [n for n in _LEVELS if n in table and len({*table[n]}) == 1]
    levels = levels if _is_tight(table, width) else []
    table = _without(levels, table)
    repeated = [n for n in _SHARED if n in table and _GROUP * len({*table[n]}) <= n_rows]
    if repeated and _is_tight(table, width):
        for value in dict.fromkeys(table[repeated[0]]):
            rows = [row for row, other in enumerate(table[repeated[0]]) if other == value]
            yield from _tables({n: [columns[n][row] for row in rows] for n in columns}, width)
        return
    texts = [columns[n][0] for n in shared] + [f"{n} {columns[n][0]}" for n in levels]
    if title := ", ".join(text for text in texts if text not in ("", "main")):
        yield Text(title, style="bold")
    yield _table(table, width)
    yield from (Text(f"{', '.join(rows)}: {text}") for text, rows in _remarks(table, below).items())


def _without(names: Collection[str], columns: _Columns) -> _Columns:
    return {name: cells for name, cells in columns.items() if name not in names}


def _remarks(table: _Columns, below: Sequence[Sequence[str]]) -> dict[str, list[str]]:
    """Remarks, each with the labels of its rows: their first cells, or the first two."""
    labels, *others = table.values()
    if len({*labels}) < len(labels) and others:
        labels = list(map(" ".join, zip(labels, others[0], strict=True)))
    remarks: dict[str, list[str]] = {}
    for label, *texts in zip(labels, *below, strict=True):
        remarks.setdefault("; ".join(filter(None, texts)), []).append(label)
    remarks.pop("", None)
    return remarks


def _heading(name: str) -> str:
    return escape_to_one_line(name).replace("_", " ")


def _longest(column: tuple[str, Sequence[str]]) -> int:
    return max(map(cell_len, (_heading(column[0]), *column[1])))


def _least(column: tuple[str, Sequence[str]]) -> int:
    """Width of a column whose long cells are broken between words."""
    name, cells = column
    whole = max(map(cell_len, cells), default=0)
    limit = _MODEL if name in _SHARED[:1] else _SHORT
    broken = [] if whole <= limit or name.startswith(_NUMBER[0]) else cells
    words = [word for text in (_heading(name), *broken) for word in _BREAKS.split(text)]
    return max(0 if broken else whole, *map(cell_len, words))


def _is_tight(table: _Columns, width: int) -> bool:
    return sum(map(_least, table.items())) + _GAP * (len(table) - 1) > width


def _table(columns: _Columns, width: int) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    widths = {name: _least((name, cells)) for name, cells in columns.items()}
    room = width - _GAP * (len(columns) - 1) - sum(widths.values())
    missing = {name: _longest((name, columns[name])) - widths[name] for name in columns}
    for name in sorted(missing, key=missing.__getitem__):
        widths[name] += (added := max(0, min(room, missing[name])))
        room -= added

    def order(name: str) -> tuple[bool, int]:  # numbers are broken last
        return not name.startswith(_NUMBER[0]) and widths[name] > _NARROWEST, widths[name]

    while room < 0 and widths[widest := max(widths, key=order)] > 1:
        widths[widest], room = widths[widest] - 1, room + 1
    for name in columns:
        table.add_column(_heading(name), width=widths[name], overflow="fold")
    for row in zip(*columns.values(), strict=True):
        table.add_row(*map(_break, row, widths.values()))
    return table


def _break(text: str, width: int) -> str:
    wrapper = TextWrapper(width)
    wrapper.wordsep_re = _BREAKS
    return wrapper.fill(text) if cell_len(text) > width else text


def output_width() -> int:
    """Width of the terminal, or of the lines in a pipe."""
    return Console().width if sys.stdout.isatty() else _PIPE_WIDTH


def print_table(table: RenderableType) -> None:
    """Print a table of printable cells, as wide as the terminal if there is one."""
    Console(highlight=False, markup=False, emoji=False, width=output_width()).print(table)


def _notes(row: Metric | LeaderboardRow) -> str:
    """What qualifies a number, first the bounds that unread responses leave to it."""
    bounds = unread_bounds(row) if row.unread and not is_hidden(row) else None
    between = [f"between {bounds[0]:.3f} and {bounds[1]:.3f} by what is unread"] if bounds else []
    return ", ".join([*between, *caveats(row)])


METRIC_COLUMNS: Mapping[str, Cell] = {
    "model": lambda row: row.model,
    "task": lambda row: row.task,
    "condition": lambda row: row.condition,
    "metric": lambda row: row.metric,
    "category": lambda row: row.category,
    "value": format_value,
    "95 % interval": format_interval,
    "constant": lambda row: format_blind(row.constant),
    "shuffled": lambda row: format_blind(row.shuffled),
    "unread": lambda row: format_percent(row.unread),
    "n": lambda row: str(row.n_scored),
    "part": format_part,
    "notes": _notes,
}


def _of_row(cell: Cell) -> Cell:
    return lambda one: cell(one.row)


_OF_RESULTS = ("model", "task", "condition", "metric", "value", "95 % interval")
LEADERBOARD_COLUMNS: Mapping[str, Cell] = {
    "model": lambda row: row.model,
    "value": format_value,
    "95 % interval": format_interval,
    "ranks": lambda row: row.ranks,
    "constant": lambda row: format_blind(row.constant),
    "shuffled": lambda row: format_blind(row.shuffled),
    "unread": lambda row: format_percent(row.unread),
    "n": lambda row: "" if row.n_scored is None else str(row.n_scored),
    "part": format_part,
    "notes": _notes,
    "source": lambda row: row.shown_source,
}

RESULT_COLUMNS: Mapping[str, Cell] = {
    **{name: _of_row(cell) for name, cell in METRIC_COLUMNS.items() if name in _OF_RESULTS},
    "best blind": lambda one: format_blind(one.reference),
    "verdict": lambda one: one.verdict,
    **{name: _of_row(METRIC_COLUMNS[name]) for name in ("unread", "n", "part", "notes")},
}

_MOST_BLOCKS = 3
"""Results that are shown in full; more are a table with a row each, so that all fit a screen."""


def print_results(
    results: "Sequence[Result]", metrics: Sequence[Metric], *, as_json: bool, all_metrics: bool
) -> None:
    """Print the metrics as JSON lines; otherwise the results, after all metrics if wanted."""
    if as_json or all_metrics or not results:
        print_rows(metrics, as_json=as_json, columns=METRIC_COLUMNS)
    if results and not as_json:
        print_result(format_results(results, output_width()))


def format_results(results: "Sequence[Result]", width: int) -> str:
    """Format a few results as blocks of facts, many as a table; commands are not broken."""
    if len(results) > _MOST_BLOCKS:
        common = [
            fact
            for fact in results[0].facts
            if all(fact in validation.facts for validation in results)
        ]
        commands = [text for label, text in common if label == "next"]
        return "\n".join([table_text(table_of(results, RESULT_COLUMNS, width), width), *commands])
    lines = []
    for result in results:
        lines.append(escape_to_one_line(result.title))
        longest, last = max(len(label) for label, _ in result.facts), ""
        for label, fact in result.facts:
            head = f"  {'' if label == last else label:<{longest}}  "
            last, text = label, escape_to_one_line(fact)
            broken = [text] if label == "next" else wrap(text, width - len(head))
            lines += [
                head + line if not n else " " * len(head) + line for n, line in enumerate(broken)
            ]
    return "\n".join(lines)


def table_text(table: RenderableType, width: int) -> str:
    """Format a table of printable cells as text."""
    console = Console(
        width=width, color_system=None, force_jupyter=False, markup=False, emoji=False
    )
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


NO_RESULTS = "No results yet. Run: bench evaluate SUITE --model MODEL."


def print_leaderboard(rows: Sequence[LeaderboardRow], *, published: bool, as_json: bool) -> None:
    """Print leaderboard rows as JSON lines, or as one table per task and edition.

    What was measured here comes last, where a terminal shows it.
    """
    if as_json:
        print_rows(rows, as_json=True)
        return
    displayed = [row for row in rows if published or row.is_measured]
    displayed.sort(key=lambda row: row.is_measured)
    if not displayed:
        hidden = f" Published rows: --published ({len(rows)})" if rows else ""
        print_message(f"{NO_RESULTS}{hidden}")

    def heading(row: LeaderboardRow) -> str:
        return f"{row.task}, {row.metric}, {row.edition} edition"

    for title, part in groupby(displayed, heading):
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
