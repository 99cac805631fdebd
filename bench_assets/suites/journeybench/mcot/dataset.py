"""Reads the MCOT rows of the release, one question about one image each, and builds questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench_assets.core.schema.rows import Question, StoredImage
from bench_assets.core.tables.build import Table
from bench_assets.core.tables.json_records import Entry, make_rows, require_field
from bench_assets.suites.journeybench.mcot.image_references import is_label, labels_of
from bench_assets.suites.journeybench.published_files import (
    name_of,
    number_repeated,
    read_records,
    read_text_field,
)

RELEASES = (2599,)
"""Rows of the known releases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McotItem:
    """A question about an image, as released or as built."""

    item_id: str  # the authors' index, or the ids of the problem and the image it is built from
    question: str
    answer: str  # a number, or alternatives joined with "; "
    image: str  # address, or file name in a built edition
    category: str  # how the question refers to the image, in the authors' free spelling
    solution: str = ""  # "" if there is none


def read_mcot(file: Path) -> Table[McotItem]:
    """Read the rows in file order; the release has 2,599.

    A row without an index, as on the project site, is identified by its image's address. Repeated
    ids are numbered. A row without the field of its address, question or answer is rejected.

    Raises:
        SourceError: If the file cannot be read.
    """
    return number_repeated(make_rows(read_records(file), _mcot_item), "item_id")


def to_questions(items: Sequence[McotItem], images: Mapping[str, StoredImage]) -> Table[Question]:
    """Build one question per complete row with an image.

    Rows with the same question are a group: one problem in several visual contexts (section 3.4).
    """
    table = Table[Question]()
    groups: dict[str, str] = {}
    for item in items:
        if faults := _faults(item, images):
            table.reject(f"mcot, {item.item_id}, {item.image}", "; ".join(faults))
            continue
        group = groups.setdefault(" ".join(item.question.split()), item.item_id)
        table.rows.append(_question(item, images[item.image], group))
    return table


def split_alternatives(answer: str) -> tuple[str, ...]:
    """Split the alternatives of a ground truth.

    >>> split_alternatives("no cups exist; there is not any cup; 0")
    ('no cups exist', 'there is not any cup', '0')
    """
    return tuple(part for part in map(str.strip, answer.split(";")) if part)


def _flag_of(item: McotItem) -> str:
    """Why a row's ground truth is doubtful; "" if it is not.

    The row stays a question: the authors' scores include such rows.
    """
    labels = [answer for answer in split_alternatives(item.answer) if is_label(answer)]
    return f"the answer {labels[0]!r} is the name of a label" if labels else ""


def _mcot_item(entry: Entry, where: str) -> McotItem:
    url = require_field(entry, "url", str, where).strip()
    return McotItem(
        item_id=read_text_field(entry, "index", where) or name_of(url),
        question=require_field(entry, "question", str, where),
        answer=require_field(entry, "answer", str, where),
        image=url,
        category=read_text_field(entry, "category", where),
        solution=read_text_field(entry, "solution", where),
    )


def _question(item: McotItem, image: StoredImage, group: str) -> Question:
    return Question(
        question_id=f"journeybench/mcot/{item.item_id}",
        task="journeybench/mcot",
        edition="own",
        kind="text",
        text=item.question,
        answer=split_alternatives(item.answer),
        images=(image.sha256,),
        category="; ".join(labels_of(item.category)),
        group_id=group,
        labels={"image": item.image, "solution": item.solution, "flag": _flag_of(item)},
    )


def _faults(item: McotItem, images: Mapping[str, StoredImage]) -> list[str]:
    faults = {
        "the question is empty": not item.question.strip(),
        "the answer is empty": not split_alternatives(item.answer),
        f"image {item.image!r} is missing or does not decode": item.image not in images,
    }
    return [fault for fault, holds in faults.items() if holds]
