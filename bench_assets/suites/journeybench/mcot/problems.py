"""Text-only arithmetic problems in the layout of GSM8K."""

import re
from dataclasses import dataclass
from pathlib import Path

from bench_assets.core.reading.numbers import parse_number
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.tables.build import Table
from bench_assets.core.tables.json_records import Entry, make_rows, require_field
from bench_assets.suites.journeybench.published_files import problem_id, read_optional_lines

PROBLEMS = "gsm8k.jsonl"
_FINAL = re.compile(r"####\s*(\S.*)\s*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A problem of GSM8K."""

    problem_id: str
    question: str
    solution: str  # with calculations in double angle brackets, without the final line
    answer: str


def read_problems(file: Path) -> Table[Problem]:
    """Read JSON lines of GSM8K in file order; no problems if the file does not exist.

    Repeated problems are rejected, and those whose answer does not end in ``#### `` and a number.

    Raises:
        SourceError: If the file cannot be read.
    """
    return make_rows(read_optional_lines(file), _problem, unique=["problem_id"])


def _problem(entry: Entry, where: str) -> Problem:
    question, answer = (require_field(entry, name, str, where) for name in ("question", "answer"))
    final = _FINAL.search(answer)
    if final is None or not _is_number(final[1]):
        raise SourceError(f"{where}: the answer does not end in '#### ' and a number: {answer!r}")
    return Problem(
        problem_id=problem_id(question),
        question=question,
        solution=answer[: final.start()].strip(),
        answer=final[1].strip(),
    )


def _is_number(text: str) -> bool:
    """Whether a text is a number in digits, with or without a sign or unit."""
    return text.strip("$-%")[:1].isdigit() and parse_number(text) is not None
