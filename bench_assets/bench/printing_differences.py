"""Prints why a score moved: a table of causes, and the first questions that lost or gained."""

from collections.abc import Mapping

from bench_assets.bench.differing import Compared
from bench_assets.bench.printing import Cell, print_rows, say, tell
from bench_assets.core.printable import one_line
from bench_assets.report.side import Side

_EXAMPLES = 3
_LONGEST = 100  # characters of a text

COLUMNS: Mapping[str, Cell] = {
    "cause": lambda row: row.cause,
    "effect": lambda row: "cannot be said" if row.effect is None else f"{row.effect:+.4f}",
    "questions": lambda row: str(row.n),
    "better": lambda row: str(row.n_better),
    "worse": lambda row: str(row.n_worse),
    "before": lambda row: row.before,
    "after": lambda row: row.after,
}


def print_difference(compared: Compared) -> None:
    """Print the causes of one task, and its first questions whose points changed."""
    whole = compared.causes[0]
    tell(f"\n{compared.task.name}, {whole.metric}: {compared.before.name} -> {compared.after.name}")
    print_rows(compared.causes, as_json=False, columns=COLUMNS)
    for name in whole.examples[:_EXAMPLES]:
        _print_example(compared, name)
    if rest := whole.n_better + whole.n_worse - len(whole.examples[:_EXAMPLES]):
        say(f"... and {rest} more; `bench explain ID --model M` tells all of one")


def _print_example(compared: Compared, name: str) -> None:
    question = compared.after.answered[name].question
    tell(f"\n{name}: {_cut(question.text)}")
    for side in (compared.before, compared.after):
        tell(f"  {side.name}: {_said(side, name)}")


def _said(side: Side, name: str) -> str:
    one = side.answered[name]
    points = ", ".join("unscored" if s.points is None else f"{s.points:g}" for s in one.scores)
    texts = " / ".join(row.error or row.text or "(nothing)" for row in one.predictions)
    return f"{_cut(texts)!r} ({points})"


def _cut(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
