"""Reads the multi-image rows of the release, one question about two images each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Question, StoredImage
from bench_assets.core.tables.build import Table
from bench_assets.core.tables.json_records import Entry, make_rows, require_field
from bench_assets.suites.journeybench.mcot.dataset import split_alternatives
from bench_assets.suites.journeybench.published_files import (
    CAUSE_ANSWERS,
    name_of,
    number_repeated,
    read_records,
    read_text_field,
)

ARITHMETIC, KNOWLEDGE, CAUSE = "Arithmetic Reasoning", "External Knowledge", "Cause and Effect"
"""The categories of section 3.5."""

RELEASES = (179, 313)
"""Rows of the known releases: in the history of the project site, and on the hub."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiImageItem:
    """A question about two images, as released or as built."""

    item_id: str  # the release has none: see ``read_multi_image``
    question: str
    answer: str
    images: tuple[str, str]  # addresses, or file names in a built edition
    category: str  # one of the three; "" if the source has none
    solution: str = ""  # "" if there is none


def read_multi_image(file: Path) -> Table[MultiImageItem]:
    """Read the rows in file order; the release has 179, a later one 313.

    The release leaves its id column empty. A row is identified by the addresses of its two images,
    numbered if several rows have the same two. A row is rejected if it lacks an address, its
    question or answer, or its flag for external knowledge is neither 0, 1 nor empty.

    Raises:
        SourceError: If the file cannot be read.
    """
    return number_repeated(make_rows(read_records(file), _multi_image_item), "item_id")


def _multi_image_item(entry: Entry, where: str) -> MultiImageItem:
    first, second = (require_field(entry, name, str, where).strip() for name in ("url1", "url2"))
    answer = require_field(entry, "answer", str, where)
    return MultiImageItem(
        item_id=f"{name_of(first)}+{name_of(second)}",
        question=require_field(entry, "question", str, where),
        answer=answer,
        images=(first, second),
        category=_category(answer, read_text_field(entry, "External_Knowledge", where), where),
        solution=read_text_field(entry, "solution", where),
    )


def _category(answer: str, flag: str, where: str) -> str:
    """Category of a row: cause and effect if its answer is an image, else what the flag states."""
    if answer.replace(" ", "").casefold() in CAUSE_ANSWERS:
        return CAUSE
    category_of = {"0": ARITHMETIC, "1": KNOWLEDGE, "": ""}
    if flag not in category_of:
        raise SourceError(f"{where}: External_Knowledge is {flag!r}, expected '0' or '1'")
    return category_of[flag]


def to_questions(
    items: Sequence[MultiImageItem], images: Mapping[str, StoredImage]
) -> Table[Question]:
    """Build one question per complete row with two images."""
    table = Table[Question]()
    for item in items:
        if faults := _faults(item, images):
            table.reject(f"multi_image_vqa, {item.item_id}", "; ".join(faults))
        else:
            table.rows.append(_question(item, images))
    return table


def _question(item: MultiImageItem, images: Mapping[str, StoredImage]) -> Question:
    is_choice = item.category == CAUSE
    choice = item.answer.replace(" ", "").casefold()
    return Question(
        question_id=f"journeybench/multi_image_vqa/{item.item_id}",
        task="journeybench/multi_image_vqa",
        edition="own",
        kind="text",
        text=item.question,
        answer=(choice,) if is_choice else split_alternatives(item.answer),
        images=tuple(images[name].sha256 for name in item.images),
        options=CAUSE_ANSWERS if is_choice else (),
        category=item.category,
        group_id="+".join(sorted(item.images)),
        labels={"solution": item.solution},
    )


def _faults(item: MultiImageItem, images: Mapping[str, StoredImage]) -> list[str]:
    missing = [name for name in item.images if name not in images]
    faults = {
        "the question is empty": not item.question.strip(),
        "the answer is empty": not split_alternatives(item.answer),
        f"missing or not decoding: {', '.join(missing)}": bool(missing),
    }
    return [fault for fault, holds in faults.items() if holds]
