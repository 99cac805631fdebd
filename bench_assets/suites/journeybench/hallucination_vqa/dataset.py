"""Reads HaloQuest's CSV and builds questions, which presume, hide or leave out something."""

from dataclasses import dataclass
from pathlib import Path

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Question
from bench_assets.core.tables.build import Table
from bench_assets.core.tables.json_records import Entry, make_rows, require_field
from bench_assets.suites.journeybench.published_files import read_records, read_text_field

RELEASES = (608,)
"""Rows of the known releases: the evaluation split."""

TRIGGERS = ("false premises", "visual challenge", "insufficient context")
IMAGE_SOURCES = ("generated", "real")


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerQuestion:
    """A question about one image that invites a hallucination, and people's answers."""

    entry_id: str  # "eval_17": the split and the authors' running number
    image: str  # address, or file name in a built edition
    image_source: str  # one of IMAGE_SOURCES
    trigger: str  # one of TRIGGERS
    question: str
    answers: tuple[str, ...]


def read_trigger_questions(file: Path) -> Table[TriggerQuestion]:
    """Read the entries in file order; invalid ones, and those with an earlier id, are rejected.

    Images are identified by address; the file's other column for them is not unique.

    Raises:
        SourceError: If the file cannot be read.
    """
    return make_rows(read_records(file), _trigger_question, unique=["entry_id"])


def split_answers(cell: str) -> tuple[str, ...]:
    """Split a cell of answers at semicolons, without empty parts.

    >>> split_answers("There is no cat; I see no cat ;")
    ('There is no cat', 'I see no cat')
    """
    answers = (" ".join(answer.split()) for answer in cell.split(";"))
    return tuple(answer for answer in answers if answer)


def _trigger_question(entry: Entry, where: str) -> TriggerQuestion:
    number, split = require_field(entry, "", str, where), require_field(entry, "split", str, where)
    row = TriggerQuestion(
        entry_id=f"{split}_{number}",
        image=require_field(entry, "url", str, where).strip(),
        image_source=_read_known_value(IMAGE_SOURCES, entry, "image type", where),
        trigger=_read_known_value(TRIGGERS, entry, "hallucination type", where),
        question=" ".join(read_text_field(entry, "question", where).split()),
        answers=split_answers(require_field(entry, "groundtruth responses", str, where)),
    )
    if not (row.image and row.question and row.answers):
        raise SourceError(f"{where}: expected an address, a question and an answer, found {row}")
    return row


def _read_known_value(values: tuple[str, ...], entry: Entry, name: str, where: str) -> str:
    value = require_field(entry, name, str, where).strip()
    if value not in values:
        raise SourceError(f"{where}: {name} is {value!r}, expected one of {', '.join(values)}")
    return value


TASK_NAME = "journeybench/hallucination_vqa"


def to_question(entry: TriggerQuestion, image: str) -> Question:
    """Ask an entry's question about its image, given by its SHA-256."""
    return Question(
        question_id=f"{TASK_NAME}/{entry.entry_id}",
        task=TASK_NAME,
        edition="own",
        kind="text",
        text=entry.question,
        answer=entry.answers,
        images=(image,),
        category=entry.trigger,
        group_id=image,
        labels={"image_source": entry.image_source, "image": entry.image},
    )
