"""The reader on real responses of real models, beside other parsers' published rules.

``python -m tests.core.reading.measured`` writes docs/parser-measured.md and the report's table. It
needs the responses of ``shared/data/responses`` and ``shared/data/blink`` beside the checkout.
"""

import csv
import gzip
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from io import StringIO
from pathlib import Path
from string import ascii_uppercase
from typing import Any, NamedTuple

from bench_assets.core.reading.choices import read_choice, read_choices
from bench_assets.core.reading.numbers import read_number
from bench_assets.core.reading.readings import Reading
from bench_assets.core.reading.yes_no import read_yes_no
from bench_assets.report import pages
from bench_assets.suites.blink.dataset import PERCEPTION_TASKS
from tests.core.reading.other_parsers import PARSERS
from tests.docs.blocks import CHECKOUT

PAGE = CHECKOUT / "docs" / "parser-measured.md"
REPORT = Path(pages.__file__).with_name("parsers.csv")
DATA = CHECKOUT.parent / "shared" / "data"
SOURCES = ("bbh", "gaokao", "gsm8k-openai", "mathvista", "mmlu-pro", "mmmu-pro")
FAILED = "Z"  # the letter of BLINK's judge for no option

Row = dict[str, Any]


class Read(NamedTuple):
    """A response with its reading."""

    row: Row
    value: str | float | None
    form: str = ""
    named: bool = False

    @property
    def is_read(self) -> bool:
        """Whether anything was read."""
        return self.value is not None

    @property
    def is_right(self) -> bool:
        """Whether the gold was read."""
        return self.is_read and same(self.value, self.row["gold"])

    @property
    def differs(self) -> bool | None:
        """Whether the source's own extraction is another; None without one."""
        reference = self.row["ref"]
        if not self.is_read or not is_reference(self.row["kind"], reference):
            return None
        return not same(self.value, reference)


def responses(data: Path) -> Iterator[Row]:
    """The shared samples of six sources."""
    for source in SOURCES:
        with gzip.open(data / "responses" / f"{source}.jsonl.gz", "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def blink(data: Path) -> Iterator[Row]:
    """BLINK's released outputs of the validation split, with the recorded judge's letter."""
    key = json.loads((data / "blink" / "val_answers.json").read_text(encoding="utf-8"))
    for folder in sorted((data / "blink" / "saved_outputs").iterdir()):
        if "concat" in folder.name:
            continue
        for file in sorted(folder.iterdir()):
            task = PERCEPTION_TASKS[file.name.removesuffix(".json.gz")]
            with gzip.open(file, "rt", encoding="utf-8") as content:
                rows = json.load(content)["val"]
            for row in rows:
                recorded = (row["prediction"] or "").strip("()")
                yield {
                    "src": "blink",
                    "model": folder.name,
                    "task": task.name,
                    "kind": "choice",
                    "options": task.options,
                    "gold": key[row["idx"]].strip("()"),
                    "ref": recorded if len(recorded) == 1 else FAILED,
                    "response": row["full_prediction"],
                }


def read(row: Row) -> Read:
    """Read a response by the kind of its question."""
    response, options = row["response"], row["options"]
    match row["kind"]:
        case "number":
            reading = read_number(response)
            return Read(row, None if reading is None else reading.value.value, *_form(reading))
        case "yesno":
            answer = read_yes_no(response)
            return Read(row, None if answer is None else answer.value, *_form(answer))
        case "choices":
            several = read_choices(response, options)
            return Read(
                row, None if several is None else several.value.replace(" ", ""), *_form(several)
            )
    letter = read_choice(response, options)
    return Read(row, None if letter is None else letter.value, *_form(letter))


def read_by(parser: Callable[[str, Sequence[str]], Any], row: Row) -> Read:
    """Read a response by another project's rules."""
    return Read(row, parser(row["response"], row["options"]))


def _form(reading: Reading[Any] | None) -> tuple[str, bool]:
    return (reading.form, reading.named) if reading else ("", False)


def same(value: str | float | None, text: str) -> bool:
    """Whether a reading is what a source's text says."""
    if not isinstance(value, float):
        return value is not None and value.casefold() == str(text).casefold()
    number = number_of(text)
    return number is not None and abs(value - number) <= 1e-6 * max(1.0, abs(number))


def number_of(text: str) -> float | None:
    """The number of a source's text; independent of the reader."""
    try:
        return float(Fraction(str(text).strip().replace(",", "").strip("$%")))
    except (ValueError, ZeroDivisionError):
        return None


def is_reference(kind: str, text: str) -> bool:
    """Whether a source's extraction is an answer of the kind, and no remark."""
    if kind == "number":
        return number_of(text) is not None
    return bool(text) and (text == FAILED or {*text} <= {*ascii_uppercase[:13]})


def share(rows: Iterable[bool]) -> float:
    """Percentage of true ones; NaN without any."""
    counted = list(rows)
    return 100 * sum(counted) / len(counted) if counted else float("nan")


def differing(rows: Iterable[Read]) -> float:
    """Percentage of readings that differ from the source's extraction, where it has one."""
    return share(row.differs for row in rows if row.differs is not None)


def accuracy(rows: Sequence[Read], letter: Callable[[Read], object]) -> float:
    """BLINK's accuracy: the mean over its tasks, in percent."""
    tasks = defaultdict(list)
    for row in rows:
        tasks[row.row["task"]].append(letter(row) == row.row["gold"])
    return sum(map(share, tasks.values())) / len(tasks)


def page(rows: Sequence[Read]) -> str:
    """The page of the documentation."""
    of_kind = {kind: [row.row for row in rows if row.row["kind"] == kind] for kind in PARSERS}
    return "\n".join(
        [
            "# Parser on real responses",
            "",
            f"{datetime.now(UTC):%Y-%m-%d}, responses of real models as their authors published",
            "them (`python -m tests.core.reading.measured`). *Explicit* leaves out what is only",
            "named. *Differs*: from the source's own extraction, where it has one.",
            "",
            *_sources(rows),
            "",
            *_forms(rows),
            "",
            "Other parsers follow their published rules, without random draws; cells: read/right.",
            *(
                line
                for kind in PARSERS
                for line in ["", *map(_markdown, _others(of_kind[kind], PARSERS[kind]))]
            ),
            "",
        ]
    )


def report_table(rows: Sequence[Read]) -> str:
    """The table of the report: shares of choices read and right, as CSV."""
    table = StringIO()
    choices = [row.row for row in rows if row.row["kind"] == "choice"]
    csv.writer(table, lineterminator="\n").writerows(_others(choices, PARSERS["choice"]))
    return table.getvalue()


def _cell(value: float, digits: int = 1) -> str:
    return "" if value != value else f"{value:.{digits}f}"  # noqa: PLR0124


def _sources(rows: Sequence[Read]) -> Iterator[str]:
    yield "|source, kind|n|read|right|differs|explicit|right|differs|"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    for source, kind in sorted({(row.row["src"], row.row["kind"]) for row in rows}):
        of_source = [row for row in rows if (row.row["src"], row.row["kind"]) == (source, kind)]
        explicit = [row for row in of_source if not row.named]
        cells = [
            share(row.is_read for row in of_source),
            share(row.is_right for row in of_source),
            differing(of_source),
            share(row.is_read and not row.named for row in of_source),
            share(row.is_right and not row.named for row in of_source),
            differing(explicit),
        ]
        yield f"|{source}, {kind}|{len(of_source)}|{'|'.join(map(_cell, cells))}|"


def _forms(rows: Sequence[Read]) -> Iterator[str]:
    yield "|form|n|right|differs|differs, BLINK|"
    yield "|---|---:|---:|---:|---:|"
    forms = defaultdict(list)
    for row in rows:
        if row.is_read:
            forms[row.form + (" (named)" if row.named else "")].append(row)
    for form, of_form in sorted(forms.items(), key=lambda item: -len(item[1])):
        elsewhere = [row for row in of_form if row.row["src"] != "blink"]
        of_blink = [row for row in of_form if row.row["src"] == "blink"]
        cells = [share(row.is_right for row in of_form), differing(elsewhere), differing(of_blink)]
        yield f"|{form}|{len(of_form)}|{'|'.join(map(_cell, cells))}|"


def _others(
    rows: Sequence[Row], parsers: Mapping[str, Callable[[str, Sequence[str]], Any]]
) -> Iterator[Sequence[str]]:
    readers: dict[str, Callable[[Row], Read]] = {
        "bench": read,
        **{name: partial(read_by, parser) for name, parser in parsers.items()},
    }
    yield ("source", "n", *readers)
    for source in sorted({row["src"] for row in rows}):
        of_source = [row for row in rows if row["src"] == source]
        cells = [_read_and_right(list(map(reader, of_source))) for reader in readers.values()]
        yield (source, str(len(of_source)), *cells)


def _read_and_right(rows: Sequence[Read]) -> str:
    return f"{share(row.is_read for row in rows):.1f}/{share(row.is_right for row in rows):.1f}"


def _markdown(cells: Sequence[str]) -> str:
    line = f"|{'|'.join(cells)}|"
    return line + (f"\n|---{'|---:' * (len(cells) - 1)}|" if cells[0] == "source" else "")


if __name__ == "__main__":
    measured = [read(row) for row in (*responses(DATA), *blink(DATA))]
    PAGE.write_text(page(measured), encoding="utf-8")
    REPORT.write_text(report_table(measured), encoding="utf-8")
