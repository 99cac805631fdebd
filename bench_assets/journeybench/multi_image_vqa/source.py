"""Reads the multi-image rows of the release: one question about two pictures each."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from bench_assets.core.errors import SourceError
from bench_assets.core.json_entries import field
from bench_assets.journeybench.source import file_name_of, read_records, text

ARITHMETIC, KNOWLEDGE, CAUSE = "Arithmetic Reasoning", "External Knowledge", "Cause and Effect"
CATEGORIES = (ARITHMETIC, KNOWLEDGE, CAUSE)
"""The categories of section 3.5."""

CAUSE_ANSWERS = ("image1", "image2")
"""What answers a question of cause and effect, in the order of the pictures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiImageItem:
    """A question about two pictures, as released or as built."""

    item_id: str  # the release has none: see ``read_multi_image``
    question: str
    answer: str
    pictures: tuple[str, str]  # addresses, or file names where the edition is built here
    category: str  # one of CATEGORIES; "" where the source does not say
    solution: str = ""  # "" where there is none


def read_multi_image(file: Path) -> list[MultiImageItem]:
    """Read the rows in file order; the release has 179, a later one 313.

    The release leaves its id column empty. A row is known by the file names of its two pictures
    and, where the same two are asked about again, by the number of the time.

    Raises:
        SourceError: If the file cannot be read, a row lacks an address, its question or answer, or
            its flag for external knowledge says neither yes nor no.
    """
    items: list[MultiImageItem] = []
    times: Counter[str] = Counter()
    for entry, where in read_records(file):
        first, second = (field(entry, name, str, where).strip() for name in ("url1", "url2"))
        pair = f"{_stem(first)}+{_stem(second)}"
        times[pair] += 1
        answer = field(entry, "answer", str, where)
        items.append(
            MultiImageItem(
                item_id=pair if times[pair] == 1 else f"{pair}/{times[pair]}",
                question=field(entry, "question", str, where),
                answer=answer,
                pictures=(first, second),
                category=_category(answer, text(entry, "External_Knowledge", where), where),
                solution=text(entry, "solution", where),
            )
        )
    return items


def _category(answer: str, flag: str, where: str) -> str:
    """Cause and effect has no column, only its answers are pictures; the site has no flags."""
    if answer.replace(" ", "").casefold() in CAUSE_ANSWERS:
        return CAUSE
    if flag not in ("0", "1", ""):
        raise SourceError(f"{where}: External_Knowledge is {flag!r}, expected '0' or '1'")
    return {"1": KNOWLEDGE, "0": ARITHMETIC, "": ""}[flag]


def _stem(url: str) -> str:
    return Path(file_name_of(url)).stem
