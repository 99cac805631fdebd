"""Wrong and unread by style: ``python -m tests.core.parsing.corpus.table [written|held_out]``.

With ``page`` instead of a file it prints the table of ``docs/parser.md``; with ``report`` it writes
the table of the report.
"""

import csv
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from io import StringIO
from pathlib import Path
from typing import NamedTuple, TypeAlias

from bench_assets.core.judging.numbered_verdicts import read_numbered_verdicts
from bench_assets.core.judging.verdicts import RIGHT_OR_WRONG, read_word
from bench_assets.core.metrics.short_answers import normalize_answer
from bench_assets.core.parsing.choices import read_choice, read_choices
from bench_assets.core.parsing.numbers import final_number, format_number
from bench_assets.core.parsing.option_names import Options
from bench_assets.core.parsing.reasoning import strip_reasoning
from bench_assets.report import pages
from bench_assets.suites.multi.parsing.blanks import normalize_text, read_blanks
from bench_assets.suites.multi.parsing.responses import half_width
from tests.core.parsing.corpus.grammar import Composed, corpus
from tests.core.parsing.corpus.other_parsers import PARSERS

_KINDS = {
    "choice": "one option",
    "choices": "several options",
    "none": "none given",
    "judgement": "right or wrong",
    "blanks": "blanks",
    "number": "numbers",
    "text": "short texts",
    "verdict": "verdicts",
    "numbered": "verdicts",
}
_OTHERS = ("one option", "none given", "right or wrong")  # what other projects' parsers read
HELD_OUT = ("held_out", "held_out_today", "held_out_assistants", "held_out_abstaining")
REPORT = Path(pages.__file__).with_name("parser_styles.csv")
Read: TypeAlias = tuple[str, ...]


class Count(NamedTuple):
    """What a parser makes of the responses of a style."""

    n: int
    wrong: int
    unread: int
    examples: tuple[tuple[str, Composed, Read], ...] = ()


@cache
def ours(one: Composed) -> Read:
    """Read a response as the product does."""
    text = strip_reasoning(one.response)
    return _READ.get(one.kind, _letter)(one, text)


def _letter(one: Composed, text: str) -> Read:
    letter = read_choice(text, one.options).letter
    return (letter,) if letter else ()


def _letters(one: Composed, text: str) -> Read:
    options = Options(len(one.options), tuple(one.options))
    return tuple(sorted(read_choices(text, options).letters))


def _number(_: Composed, text: str) -> Read:
    value = final_number(text)
    return () if value is None else (format_number(value),)


def _word(_: Composed, text: str) -> Read:
    said = read_word(text, RIGHT_OR_WRONG)
    return () if said is None else ("right" if said else "wrong",)


def _by_number(one: Composed, text: str) -> Read:
    read = read_numbered_verdicts(text, len(one.expected))
    return tuple("" if said is None else str(int(said)) for said in read)


_READ: Mapping[str, Callable[[Composed, str], Read]] = {
    "blanks": lambda one, text: tuple(
        map(normalize_text, read_blanks(half_width(text), len(one.expected)))
    ),
    "number": _number,
    "text": lambda _, text: (normalize_answer(text),),
    "verdict": _word,
    "numbered": _by_number,
    "choices": _letters,
}


def of_another(parser: Callable[..., str | None]) -> Callable[[Composed], Read]:
    """Read a choice as another project does."""

    def read(one: Composed) -> Read:
        letter = parser(one.response, one.options)
        return (letter,) if letter else ()

    return read


def counts(composed: Iterable[Composed], read: Callable[[Composed], Read]) -> Mapping[str, Count]:
    """Count wrong and unread responses of each style."""
    n: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    unread: Counter[str] = Counter()
    shown: dict[str, list[tuple[str, Composed, Read]]] = {}
    for one in composed:
        n[one.style] += 1
        if (found := read(one)) == one.expected:
            continue
        silent = not any(found)
        (unread if silent else wrong)[one.style] += 1
        shown.setdefault(one.style, []).append(("unread" if silent else "WRONG", one, found))
    return {
        style: Count(n[style], wrong[style], unread[style], tuple(shown.get(style, ())))
        for style in n
    }


def page() -> str:
    """The table of the documentation: the styles that no rule was written on, by kind."""
    composed = [replace(one, style=_KINDS[one.kind]) for one in corpus("held_out")]
    ours_read = counts(composed, ours)
    others = [counts(composed, of_another(parser)) for parser in PARSERS.values()]
    lines = [f"|Answer|n|bench|{'|'.join(PARSERS)}|", f"|---|{'---:|' * (2 + len(PARSERS))}"]
    for kind, count in ours_read.items():
        cells = [f"{count.wrong}/{count.unread}"]
        cells += [f"{o[kind].wrong}/{o[kind].unread}" if kind in _OTHERS else "" for o in others]
        lines.append(f"|{kind}|{count.n}|{'|'.join(cells)}|")
    return "\n".join(lines)


def report_table() -> str:
    """The table of the report: all held-out styles, "wrong/unread" of each parser, as CSV."""
    composed = [one for file in HELD_OUT for one in corpus(file)]
    kinds = {one.style: (_KINDS[one.kind], one.language) for one in composed}
    others = [counts(composed, of_another(parser)) for parser in PARSERS.values()]
    lines = [("style", "answer", "language", "n", "bench", *PARSERS)]
    for style, count in counts(composed, ours).items():
        read = [other[style] for other in others] if kinds[style][0] in _OTHERS else []
        cells = [f"{one.wrong}/{one.unread}" for one in (count, *read)]
        cells += [""] * (1 + len(PARSERS) - len(cells))
        lines.append((style, *kinds[style], str(count.n), *cells))
    table = StringIO()
    csv.writer(table, lineterminator="\n").writerows(lines)
    return table.getvalue()


def main(file: str = "written", *styles: str) -> None:
    """Print the table; with names of styles, what is misread of them."""
    if file == "page":
        print(page())
        return
    if file == "report":
        REPORT.write_text(report_table(), "utf-8")
        return
    composed = corpus(file)
    ours_read = counts(composed, ours)
    others = {name: counts(composed, of_another(parser)) for name, parser in PARSERS.items()}
    print(f"{'style':50} {'n':>4} ours  " + "  ".join(f"{name:>8}" for name in others))
    of_choices = {one.style for one in composed if one.kind in ("choice", "none", "judgement")}
    for style, count in ours_read.items():
        cells = [f"{count.wrong}/{count.unread}"]
        cells += [
            f"{other[style].wrong}/{other[style].unread}" if style in of_choices else "-"
            for other in others.values()
        ]
        print(f"{style:50} {count.n:4} " + "  ".join(f"{cell:>8}" for cell in cells))
    total = sum(count.n for count in ours_read.values())
    wrong = sum(count.wrong for count in ours_read.values())
    unread = sum(count.unread for count in ours_read.values())
    print(
        f"{'all: wrong / unread of ours':50} {total:4} {wrong / total:.2%} / {unread / total:.2%}"
    )
    for style in styles:
        for what, one, found in ours_read[style].examples:
            print(f"{what} {found} instead of {one.expected}: {one.response!r} {one.options}")


if __name__ == "__main__":
    main(*sys.argv[1:])
