# ruff: noqa: E501  (sentences of a page)
"""Accuracy of the reader on real responses, beside the published rules of other parsers.

``python -m tests.core.reading.measured`` writes docs/parser-measured.md and the report's table. It
needs the responses of ``shared/data/responses`` and ``shared/data/blink`` beside the checkout.
"""

import csv
import gzip
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from io import StringIO
from math import isnan
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

Sample = dict[str, Any]


class ReadResponse(NamedTuple):
    """A sample of a source with the reading of its response."""

    sample: Sample
    value: str | float | None
    form: str = ""
    named: bool = False

    @property
    def is_read(self) -> bool:
        """Whether an answer was read."""
        return self.value is not None

    @property
    def is_right(self) -> bool:
        """Whether the gold was read."""
        return self.is_read and same(self.value, self.sample["gold"])

    @property
    def differs(self) -> bool | None:
        """Whether the source's own extraction differs; None without one."""
        reference = self.sample["ref"]
        if not self.is_read or not is_reference(self.sample["kind"], reference):
            return None
        return not same(self.value, reference)


def responses(data: Path) -> Iterator[Sample]:
    """Samples of six sources, with the responses of models."""
    for source in SOURCES:
        with gzip.open(data / "responses" / f"{source}.jsonl.gz", "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def blink(data: Path) -> Iterator[Sample]:
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


def read(sample: Sample) -> ReadResponse:
    """Read a response by the kind of its question."""
    response, options = sample["response"], sample["options"]
    reading: Reading[Any] | None
    match sample["kind"]:
        case "number":
            number = read_number(response)
            reading = number.with_value(number.value.value) if number else None
        case "yesno":
            reading = read_yes_no(response)
        case "choices":
            letters = read_choices(response, options)
            reading = letters.with_value(letters.value.replace(" ", "")) if letters else None
        case _:
            reading = read_choice(response, options)
    if reading is None:
        return ReadResponse(sample, None)
    return ReadResponse(sample, reading.value, form=reading.form, named=reading.named)


def read_by(parser: Callable[[str, Sequence[str]], Any], sample: Sample) -> ReadResponse:
    """Read a response by another project's rules."""
    return ReadResponse(sample, parser(sample["response"], sample["options"]))


def same(value: str | float | None, text: str) -> bool:
    """Whether a reading equals a source's text; numbers up to rounding."""
    if not isinstance(value, float):
        return value is not None and value.casefold() == str(text).casefold()
    number = number_of(text)
    return number is not None and abs(value - number) <= 1e-6 * max(1.0, abs(number))


def number_of(text: str) -> float | None:
    """The number of a source's text, without the reader; None if it is no number."""
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
    """Percentage of the rows that are true; NaN without rows."""
    values = list(rows)
    return 100 * sum(values) / len(values) if values else float("nan")


def differing(rows: Iterable[ReadResponse]) -> float:
    """Percentage of readings that differ from the source's extraction, of those that have one."""
    return share(row.differs for row in rows if row.differs is not None)


def accuracy(rows: Sequence[ReadResponse], letter: Callable[[ReadResponse], object]) -> float:
    """BLINK's accuracy of the letters of responses: the mean over its tasks, in percent."""
    tasks = defaultdict(list)
    for row in rows:
        tasks[row.sample["task"]].append(letter(row) == row.sample["gold"])
    return sum(map(share, tasks.values())) / len(tasks)


def page(rows: Sequence[ReadResponse]) -> str:
    lines = [
        "# Parser on real responses",
        "",
        f"Measured on {datetime.now(UTC):%Y-%m-%d} on model responses that the authors of the sources published",
        "(`python -m tests.core.reading.measured`). The sources are BIG-Bench Hard (bbh), BLINK, GAOKAO-Bench, OpenAI's solutions of",
        "GSM8K, MathVista, MMLU-Pro and MMMU-Pro. The answer is one option (choice), several (choices), a number, or yes or no.",
        "*n* is the number of responses. All other columns are percentages:",
        "",
        "- *read*: of all responses, those in which the [rules](parser.md) read an answer",
        "- *right*: of all responses, those in which the read answer is right",
        "- *differs*: of the read answers that the source extracted too, those that differ from its extraction; empty if there are none. For BLINK, also those in which its judge found none",
        "",
        "The last three columns count explicit answers only, without those that are only named.",
        "",
        *_source_table(rows),
        "",
        "The next table has the read answers by the rule that read them. *n* is their number, and *right* the percentage of these that are",
        "right. *Differs* is as above, with a column for BLINK and one for the other sources.",
        "",
        *_form_table(rows),
        "",
        "The last tables compare the rules with those of other projects (`tests/core/reading/other_parsers.py`), for one option and for",
        "numbers. The header names the project and, if its rules are for one benchmark, this benchmark. Where a project draws an answer at",
        "random or calls a model, the response counts as unread. A cell has two percentages of responses: read/right.",
    ]
    for kind, parsers in PARSERS.items():
        samples = [row.sample for row in rows if row.sample["kind"] == kind]
        lines += ["", *map(_markdown, _parser_table(samples, parsers))]
    return "\n".join([*lines, ""])


def report_table(rows: Sequence[ReadResponse]) -> str:
    """The table of the report as CSV: shares of choices read and right, by source and parser."""
    table = StringIO()
    choices = [row.sample for row in rows if row.sample["kind"] == "choice"]
    csv.writer(table, lineterminator="\n").writerows(_parser_table(choices, PARSERS["choice"]))
    return table.getvalue()


def _cell(percentage: float) -> str:
    return "" if isnan(percentage) else f"{percentage:.1f}"


def _source_table(rows: Sequence[ReadResponse]) -> Iterator[str]:
    """Lines of a table: shares read, right and different, by source and kind."""
    yield "|source, kind of answer|n|read|right|differs|explicit: read|explicit: right|explicit: differs|"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    for source, kind in sorted({(row.sample["src"], row.sample["kind"]) for row in rows}):
        of_source = [
            row for row in rows if (row.sample["src"], row.sample["kind"]) == (source, kind)
        ]
        explicit = [row for row in of_source if not row.named]
        cells = [
            share(row.is_read for row in of_source),
            share(row.is_right for row in of_source),
            differing(of_source),
            share(row.is_read and not row.named for row in of_source),
            share(row.is_right and not row.named for row in of_source),
            differing(explicit),
        ]
        row_text = "|".join(map(_cell, cells))
        yield f"|{source}, {kind}|{len(of_source)}|{row_text}|"


def _form_table(rows: Sequence[ReadResponse]) -> Iterator[str]:
    """Lines of a table: shares right and different by form, the most frequent form first."""
    yield "|rule|n|right|differs, without BLINK|differs, BLINK|"
    yield "|---|---:|---:|---:|---:|"
    forms = defaultdict(list)
    for row in rows:
        if row.is_read:
            forms[f"{row.form} (named)" if row.named else row.form].append(row)
    for form in sorted(forms, key=lambda form: -len(forms[form])):
        of_form = forms[form]
        of_others = [row for row in of_form if row.sample["src"] != "blink"]
        of_blink = [row for row in of_form if row.sample["src"] == "blink"]
        cells = [share(row.is_right for row in of_form), differing(of_others), differing(of_blink)]
        row_text = "|".join(map(_cell, cells))
        yield f"|{form}|{len(of_form)}|{row_text}|"


def _parser_table(samples, parsers):
    """Cells of a table with a header: shares read/right of each source, by parser."""
    readers: dict[str, Callable[[Sample], ReadResponse]] = {
        "bench": read,
        **{name: partial(read_by, parser) for name, parser in parsers.items()},
    }
    yield ("source", "n", *readers)
    for source in sorted({sample["src"] for sample in samples}):
        of_source = [sample for sample in samples if sample["src"] == source]
        cells = [_read_and_right(list(map(reader, of_source))) for reader in readers.values()]
        yield (source, str(len(of_source)), *cells)


def _read_and_right(rows: Sequence[ReadResponse]) -> str:
    percent_read = share(row.is_read for row in rows)
    percent_right = share(row.is_right for row in rows)
    return f"{percent_read:.1f}/{percent_right:.1f}"


def _markdown(cells: Sequence[str]) -> str:
    """A line of a table; the header is followed by its rule."""
    first, *others = cells
    line = "|".join(["", *cells, ""])
    return f"{line}\n|---{'|---:' * len(others)}|" if first == "source" else line


if __name__ == "__main__":
    read_responses = [read(sample) for sample in (*responses(DATA), *blink(DATA))]
    PAGE.write_text(page(read_responses), encoding="utf-8")
    REPORT.write_text(report_table(read_responses), encoding="utf-8")
