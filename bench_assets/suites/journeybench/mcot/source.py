"""Reads the MCOT rows of the release: one question about one picture each."""

from dataclasses import dataclass, replace
from pathlib import Path

from bench_assets.core.json_entries import field
from bench_assets.suites.journeybench.source import name_of, numbered, read_records, text

RELEASES = (2599,)
"""Rows of the known releases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McotItem:
    """A question about a picture, as released or as built."""

    item_id: str  # the authors' index, or the ids of the problem and the picture it is built from
    question: str
    answer: str  # a number, or alternatives joined with "; "
    picture: str  # its address, or its file name where the edition is built here
    category: str  # how the question refers to the picture, in the authors' free spelling
    solution: str = ""  # "" where there is none


def read_mcot(file: Path) -> list[McotItem]:
    """Read the rows in file order; the release has 2,599.

    A row without index (the project site leaves it out) is known by its picture's address, and the
    number of the time where several ask about one.

    Raises:
        SourceError: If the file cannot be read, or a row lacks its address, question or answer.
    """
    items = [
        McotItem(
            item_id=text(entry, "index", where) or name_of(url),
            question=field(entry, "question", str, where),
            answer=field(entry, "answer", str, where),
            picture=url,
            category=text(entry, "category", where),
            solution=text(entry, "solution", where),
        )
        for entry, where in read_records(file)
        for url in [field(entry, "url", str, where).strip()]
    ]
    names = numbered(item.item_id for item in items)
    return [replace(item, item_id=name) for item, name in zip(items, names, strict=True)]
