"""Output of ``bench``: tables, or JSON lines; control characters in the data are escaped."""

import json
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import groupby, starmap
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
_SHORT = 16  # characters of a cell; shorter cells are broken last
_MODEL = 36  # characters of the name of a model; shorter names are broken last
_GAP = 2  # characters between two columns
_NARROWEST = 10  # characters of a column; narrower columns are narrowed last
_REMARKS = frozenset({"part", "notes", "source", "basis"})
# columns that a title may replace
_SHARED = ("model", "task", "condition", "metric", "part", "notes", "source", "basis")
_LEVELS = ("constant", "shuffled")
_VALUE, _INTERVAL = "value", "95 % interval"
_GROUP = 2  # average rows per group, from which on each group gets a table of its own
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


def print_message(text: object) -> None:
    """Print a message that is not part of the result, on standard error."""
    message = escape_controls(str(text))
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
    """Print rows as JSON lines with all fields, or as a table; by default of all fields.

    Without ``columns``, texts are cut after 100 characters; and rows that are too wide, even in
    columns of ten characters, are printed as lines ``name: text``.
    """
    if as_json:
        for row in rows:
            print_json_result(_as_json(row))
        return
    if not rows:
        print_message("(no rows)")
        return
    all_columns = {field.name: _field_cell(field.name) for field in fields(rows[0])}
    width, n = output_width(), len(all_columns)
    full_width = sum(max(len(cell(row)) for row in rows) + _GAP for cell in all_columns.values())
    if columns or full_width <= width or (_NARROWEST + _GAP) * n <= width:
        print_table(format_table(rows, columns or all_columns, width))
        return
    for row in rows:
        texts = {name: cell(row) for name, cell in all_columns.items()}
        print_result("\n".join([*(f"{name}: {text}" for name, text in texts.items() if text), ""]))


def _as_json(row: object) -> Any:  # noqa: ANN401
    """All fields of a row, with ``partial`` for a number of a part of the questions."""
    values = to_json(row)
    part = partial_part(row.signature) if isinstance(row, Metric | LeaderboardRow) else ""
    return {**values, "partial": part} if part else values


def format_table(rows: Sequence[Any], columns: Mapping[str, Cell], width: int) -> RenderableType:
    """Format rows as a table of printable cells; nothing is cut off.

    Columns without a value are left out; names that rows all share are the title. If ``width``
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
    first_cells, *_ = columns.values()
    n_rows = len(first_cells)
    is_wide = sum(starmap(_full_width, columns.items())) + _GAP * (len(columns) - 1) > width
    has_title = n_rows > 1 or is_wide  # else a title would be all that there is
    shared = _constant_columns(_SHARED, columns) if has_title else []
    table = _without(shared, columns) or columns
    remark_columns: list[list[str]] = []
    if is_wide and not table.keys() <= _REMARKS:
        remark_columns = [cells for name, cells in table.items() if name in _REMARKS]
        table = _without(_REMARKS, table)
    if _is_tight(table, width) and {_VALUE, _INTERVAL} <= table.keys():
        table = _with_joined_number(table)
    levels = _constant_columns(_LEVELS, table) if _is_tight(table, width) else []
    table = _without(levels, table)
    repeated = [
        name for name in _SHARED if name in table and _GROUP * len({*table[name]}) <= n_rows
    ]
    if repeated and _is_tight(table, width):
        for group in _split_rows(columns, table[repeated[0]]):
            yield from _tables(group, width)
        return
    texts = [columns[name][0] for name in shared]
    texts += [f"{name} {columns[name][0]}" for name in levels]
    if title := ", ".join(text for text in texts if text not in ("", "main")):
        yield Text(title, style="bold")
    yield _table(table, width)
    for remark, labels in _remarks(table, remark_columns).items():
        yield Text(f"{', '.join(labels)}: {remark}")


def _constant_columns(names: Sequence[str], columns: _Columns) -> list[str]:
    return [name for name in names if len({*columns.get(name, ())}) == 1]


def _split_rows(columns: _Columns, labels: Sequence[str]) -> Iterator[_Columns]:
    for group in dict.fromkeys(labels):
        indices = [index for index, label in enumerate(labels) if label == group]
        yield {name: [cells[index] for index in indices] for name, cells in columns.items()}


def _with_joined_number(table: _Columns) -> _Columns:
    """Join a value and its interval in one column."""
    joined: _Columns = {}
    for name, cells in table.items():
        if name == _VALUE:
            pairs = zip(cells, table[_INTERVAL], strict=True)
            joined[f"{_VALUE}, {_INTERVAL}"] = [" ".join(pair).strip() for pair in pairs]
        elif name != _INTERVAL:
            joined[name] = cells
    return joined


def _without(names: Collection[str], columns: _Columns) -> _Columns:
    return {name: cells for name, cells in columns.items() if name not in names}


def _remarks(table: _Columns, remark_columns: Sequence[Sequence[str]]) -> dict[str, list[str]]:
    """Remarks, each with the labels of its rows: first cells, or the first two if those repeat."""
    labels, *further_columns = table.values()
    if len({*labels}) < len(labels) and further_columns:
        labels = list(map(" ".join, zip(labels, further_columns[0], strict=True)))
    remarks: dict[str, list[str]] = {}
    for label, *texts in zip(labels, *remark_columns, strict=True):
        remarks.setdefault("; ".join(filter(None, texts)), []).append(label)
    remarks.pop("", None)
    return remarks


def _heading(name: str) -> str:
    return escape_to_one_line(name).replace("_", " ")


def _full_width(name: str, cells: Sequence[str]) -> int:
    return max(map(cell_len, (_heading(name), *cells)))


def _narrow_width(name: str, cells: Sequence[str]) -> int:
    """Width of a column whose long cells are broken between words."""
    longest = max(map(cell_len, cells), default=0)
    limit = _MODEL if name == "model" else _SHORT
    is_broken = longest > limit and not name.startswith(_VALUE)
    texts = [_heading(name), *(cells if is_broken else ())]
    words = [word for text in texts for word in _BREAKS.split(text)]
    return max(0 if is_broken else longest, *map(cell_len, words))


def _is_tight(table: _Columns, width: int) -> bool:
    """Whether columns do not fit, even with broken cells."""
    return sum(starmap(_narrow_width, table.items())) + _GAP * (len(table) - 1) > width


def _table(columns: _Columns, width: int) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    widths = _column_widths(columns, width)
    for name in columns:
        table.add_column(_heading(name), width=widths[name], overflow="fold")
    for row in zip(*columns.values(), strict=True):
        table.add_row(*map(_break, row, widths.values()))
    return table


def _column_widths(columns: _Columns, width: int) -> dict[str, int]:
    """Widen narrow columns while there is space, or narrow the widest until they fit."""
    widths = {name: _narrow_width(name, cells) for name, cells in columns.items()}
    space = width - _GAP * (len(columns) - 1) - sum(widths.values())
    missing = {name: _full_width(name, cells) - widths[name] for name, cells in columns.items()}
    for name in sorted(missing, key=missing.__getitem__):
        added = max(0, min(space, missing[name]))
        widths[name] += added
        space -= added
    texts = [name for name in columns if not name.startswith(_VALUE)]
    while space < 0:
        wide_texts = [name for name in texts if widths[name] > _NARROWEST]
        widest = max(wide_texts or widths, key=widths.__getitem__)  # numbers are broken last
        if widths[widest] <= 1:
            break
        widths[widest] -= 1
        space += 1
    return widths


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
    """Caveats of a number; first its bounds, if it is shown and responses are unread."""
    bounds = unread_bounds(row) if row.unread and not is_hidden(row) else None
    notes = caveats(row)
    if bounds:
        low, high = bounds
        notes = [f"between {low:.3f} and {high:.3f} by what is unread", *notes]
    return ", ".join(notes)


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


def _metric_cell(cell: Cell) -> Cell:
    return lambda result: cell(result.row)


_RESULT_FIELDS = ("model", "task", "condition", "metric", "value", "95 % interval")
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
    **{name: _metric_cell(cell) for name, cell in METRIC_COLUMNS.items() if name in _RESULT_FIELDS},
    "best blind": lambda result: format_blind(result.reference),
    "verdict": lambda result: result.verdict,
    **{name: _metric_cell(METRIC_COLUMNS[name]) for name in ("unread", "n", "part", "notes")},
}

_MOST_BLOCKS = 3
"""Results that are shown in full; more are a table with a row each, so that all fit a screen."""


def print_results(
    results: "Sequence[Result]", metrics: Sequence[Metric], *, as_json: bool, all_metrics: bool
) -> None:
    """Print the metrics as JSON lines, or the results.

    With ``all_metrics``, or without a result, a table of the metrics comes first.
    """
    if as_json or all_metrics or not results:
        print_rows(metrics, as_json=as_json, columns=METRIC_COLUMNS)
    if results and not as_json:
        print_result(format_results(results, output_width()))


def format_results(results: "Sequence[Result]", width: int) -> str:
    """Format up to three results as blocks, more as a table with common commands, unbroken."""
    if len(results) <= _MOST_BLOCKS:
        return "\n".join(line for result in results for line in _result_lines(result, width))
    common = [fact for fact in results[0].facts if all(fact in result.facts for result in results)]
    commands = [text for label, text in common if label == "next"]
    return "\n".join([table_text(format_table(results, RESULT_COLUMNS, width), width), *commands])


def _result_lines(result: "Result", width: int) -> Iterator[str]:
    """Format a result as its title and a line for each fact; a repeated label is left out."""
    yield escape_to_one_line(result.title)
    label_width = max(len(label) for label, _ in result.facts)
    previous = ""
    for label, fact in result.facts:
        shown_label = "" if label == previous else label
        head = f"  {shown_label:<{label_width}}  "
        text = escape_to_one_line(fact)
        for line in [text] if label == "next" else wrap(text, width - len(head)):
            yield head + line
            head = " " * len(head)
        previous = label


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
    """Print all leaderboard rows as JSON lines; or as tables by task, metric and edition.

    Tables have published rows only if ``published``. What was measured here comes last, where a
    terminal shows it.
    """
    if as_json:
        print_rows(rows, as_json=True)
        return
    displayed = [row for row in rows if published or row.is_measured]
    displayed.sort(key=lambda row: row.is_measured)
    if not displayed:
        hidden = f" Published rows: --published ({len(rows)})" if rows else ""
        print_message(f"{NO_RESULTS}{hidden}")
    for title, rows_of_table in groupby(displayed, _table_title):
        print_result(f"\n{title}")
        print_rows(list(rows_of_table), as_json=False, columns=LEADERBOARD_COLUMNS)


def _table_title(row: LeaderboardRow) -> str:
    return f"{row.task}, {row.metric}, {row.edition} edition"


def _field_cell(name: str) -> Cell:
    return lambda row: _cell_text(getattr(row, name))


def _cell_text(value: object) -> str:
    """Format a value on one line of at most ``_LONGEST`` characters; "" for None."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}"
    parts = value if isinstance(value, tuple) else (value,)
    text = escape_to_one_line(" | ".join(map(str, parts)))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
