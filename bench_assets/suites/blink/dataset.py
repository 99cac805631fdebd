"""The released data of BLINK: files of the hub, the same as JSON, or the answer key alone.

A source folder is one of

* the hub's: ``<Task>/val-*.parquet`` and ``<Task>/test-*.parquet``, the images inside the rows;
* the answer key: ``val_answers.json``, enough to score existing responses, and optionally
  ``val_answers_concatenated.json``, the separate key of a run on concatenated images;
* anything else: the raw data sets that BLINK is built from, see ``construction``.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import ascii_uppercase
from typing import Literal, TypeAlias, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Edition, Question
from bench_assets.core.tables.build import Table
from bench_assets.core.tables.json_records import Entry, LocatedEntry, read_json, require_field

Row = TypeVar("Row")
Route: TypeAlias = Literal["release", "key", "raw"]
Split: TypeAlias = Literal["val", "test"]

KEY = "val_answers.json"
CONCATENATED_KEY = "val_answers_concatenated.json"
SPLITS: tuple[Split, Split] = ("val", "test")

_IMAGES = ("image_1", "image_2", "image_3", "image_4")
_COLUMNS = ("idx", "question", "prompt", "sub_task", *_IMAGES, "choices", "answer", "explanation")
_BATCH_SIZE = 8  # parquet rows in memory at once; one may hold four photographs
_HIDDEN = "hidden"  # the answer of every row of the test split


@dataclass(frozen=True, slots=True, kw_only=True)
class PerceptionTask:
    """One of the fourteen tasks (section 3.2, Table 1), in the release's format."""

    name: str  # as in the release's ids: "Multi-view_Reasoning"
    val: int  # validation questions (the head of Table 1 counts an earlier version)
    test: int
    images: int  # images per question
    options: tuple[str, ...]  # the same for every question; placeholders for Counting
    question: str


PERCEPTION_TASKS: dict[str, PerceptionTask] = {
    entry["name"]: PerceptionTask(**{**entry, "options": tuple(entry["options"])})
    for entry in json.loads(Path(__file__).with_name("tasks.json").read_text(encoding="utf-8"))
}
"""By name, in the order of Table 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlinkItem:
    """A row of the release."""

    where: str  # file and row, for messages
    idx: str  # "val_Jigsaw_12"
    task: PerceptionTask
    split: Split
    question: str
    prompt: str  # the question in full, with its options
    choices: tuple[str, ...]
    letter: str  # letter of the right option; "" if the release hides it
    explanation: str  # why it is right; IQ_Test only
    images: tuple[bytes, ...]  # as they are in the file


def find_route(folder: Path) -> Route:
    """Return the kind of source: the release, an answer key or raw data sets."""
    if release_files(folder):
        return "release"
    return "key" if (folder / KEY).is_file() else "raw"


def release_files(folder: Path) -> list[tuple[PerceptionTask, Split, Path]]:
    """List the files of a release by task, the validation split first."""
    return [
        (task, split, file)
        for task in PERCEPTION_TASKS.values()
        for split in SPLITS
        for file in _split_files(folder / task.name, split)
    ]


def absent_tasks(folder: Path) -> list[str]:
    """Name the tasks without validation files, as after a partial download of the release."""
    return [name for name in PERCEPTION_TASKS if not _split_files(folder / name, "val")]


def read_items(folder: Path, make_row: Callable[[BlinkItem], Row]) -> Table[Row]:
    """Make a row of each item of a release; only a few items are in memory at a time.

    Invalid items, items with the id of an earlier one, and those for which ``make_row`` raises a
    SourceError or ImageError are rejected.

    Raises:
        SourceError: If a file cannot be read, or lacks a column.
    """
    table = Table[Row]()
    locations: dict[str, str] = {}  # by id
    for task, split, file in release_files(folder):
        for located in _parquet_rows(file):
            where = located.where
            with table.rejecting(where):
                item = _parse_item(located.entry, where, task, split)
                first = locations.setdefault(item.idx, where)
                if first != where:
                    raise SourceError(f"{where}: {first} already has idx {item.idx}; keep one file")
                with table.rejecting(item.idx):
                    table.rows.append(make_row(item))
    return table


def read_key(file: Path) -> Table[tuple[str, str]]:
    """Read the ids and right letters of an answer key, in file order.

    Entries with an unknown id or an invalid answer are rejected.

    Raises:
        SourceError: If the file cannot be read, or is not an object.
    """
    table = Table[tuple[str, str]]()
    answers = read_json(file)
    if not isinstance(answers, dict):
        raise SourceError(f"{file}: expected an object of ids and answers, found {answers!r:.60}")
    for idx, answer in answers.items():
        where = f"{file}, {idx}"
        with table.rejecting(where):
            match = re.fullmatch(r"val_(.+)_\d+", idx)
            if match is None or match[1] not in PERCEPTION_TASKS:
                raise SourceError(f"{where}: not an id (expected one like val_Jigsaw_12)")
            n_options = len(PERCEPTION_TASKS[match[1]].options)
            table.rows.append((idx, _parse_letter(answer, n_options, where)))
    return table


def to_question(item: BlinkItem, images: Sequence[str]) -> Question:
    """Convert a row of the release to a question; ``name_edition`` sets its edition."""
    explanation = {"explanation": item.explanation} if item.explanation else {}
    return Question(
        question_id=f"blink/{item.idx}",
        task="blink",
        edition="own",
        kind="choice",
        text=item.question,
        answer=(item.letter,) if item.letter else (),
        images=tuple(images),
        options=item.choices,
        context=item.prompt,
        category=item.task.name,
        labels={"split": item.split, "sub_task": item.task.name, **explanation},
    )


def questions_from_key(key: Mapping[str, str]) -> list[Question]:
    """Convert an answer key to questions without images, for scoring only."""
    task_names = {idx: idx.removeprefix("val_").rpartition("_")[0] for idx in key}
    return [
        Question(
            question_id=f"blink/{idx}",
            task="blink",
            edition="own",
            kind="choice",
            text=PERCEPTION_TASKS[name].question,
            answer=(key[idx],),
            options=PERCEPTION_TASKS[name].options,
            category=name,
            labels={"split": "val", "sub_task": name},
        )
        for idx, name in task_names.items()
    ]


def name_edition(questions: Sequence[Question]) -> list[Question]:
    """Set the edition: published if the validation ids are the release's, else ``"own"``."""
    released_ids = {
        f"blink/val_{task.name}_{number}"
        for task in PERCEPTION_TASKS.values()
        for number in range(1, task.val + 1)
    }
    question_ids = {
        question.question_id for question in questions if question.labels["split"] == "val"
    }
    edition: Edition = "published" if question_ids == released_ids else "own"
    return [replace(question, edition=edition) for question in questions]


def scorable(questions: Iterable[Question]) -> list[Question]:
    """Select the questions with a known answer: in the release, the validation split."""
    return [question for question in questions if question.answer]


def hidden_split(questions: Iterable[Question]) -> list[Question]:
    """Select the test split, without its answers."""
    return [
        replace(question, answer=()) for question in questions if question.labels["split"] == "test"
    ]


def several_images(questions: Iterable[Question]) -> list[Question]:
    """Select the questions of the eight tasks with several images (appendix C.1)."""
    return [question for question in questions if PERCEPTION_TASKS[question.category].images > 1]


def _split_files(folder: Path, split: Split) -> list[Path]:
    return sorted(folder.glob(f"{split}-*.parquet"))


def _parquet_rows(file: Path) -> Iterator[LocatedEntry]:
    try:
        with pq.ParquetFile(file) as table:
            if missing := [name for name in _COLUMNS if name not in table.schema_arrow.names]:
                raise SourceError(f"{file}: no column {', '.join(missing)}: not a release file")
            for number, entry in enumerate(_entries(table), 1):
                yield LocatedEntry(entry, f"{file}, row {number} ({entry['idx']})")
    except (OSError, ValueError, pa.ArrowException) as error:
        raise SourceError(
            f"{file}: cannot be read as Parquet, or is cut short: {error}. Copy it again"
        ) from error


def _entries(table: pq.ParquetFile) -> Iterator[Entry]:
    for batch in table.iter_batches(batch_size=_BATCH_SIZE, columns=list(_COLUMNS)):
        batch.validate(full=True)  # invalid lengths would crash the process
        yield from batch.to_pylist()


def _parse_item(entry: Entry, where: str, task: PerceptionTask, split: Split) -> BlinkItem:
    idx = require_field(entry, "idx", str, where)
    if not re.fullmatch(rf"{split}_{task.name}_\d+", idx):
        raise SourceError(f"{where}: idx is {idx!r}, expected {split}_{task.name}_ and a number")
    images = [name for name in _IMAGES if entry.get(name) is not None]
    if images != list(_IMAGES[: task.images]):
        raise SourceError(f"{where}: images {images}, expected the first {task.images}")
    answer = require_field(entry, "answer", str, where)
    choices = tuple(require_field(entry, "choices", list, where))
    are_texts = all(isinstance(choice, str) for choice in choices)
    n_options = len(task.options)
    if not are_texts or len(choices) != n_options or len(set(choices)) != n_options:
        raise SourceError(f"{where}: choices {choices}, expected {n_options} distinct texts")
    has_explanation = bool(entry.get("explanation"))
    return BlinkItem(
        where=where,
        idx=idx,
        task=task,
        split=split,
        question=require_field(entry, "question", str, where),
        prompt=require_field(entry, "prompt", str, where),
        choices=choices,
        letter="" if answer == _HIDDEN else _parse_letter(answer, len(choices), where),
        explanation=require_field(entry, "explanation", str, where) if has_explanation else "",
        images=tuple(_image_bytes(entry[name], f"{where}, {name}") for name in images),
    )


def _image_bytes(value: object, where: str) -> bytes:
    data = value.get("bytes") if isinstance(value, dict) else None
    if not isinstance(data, bytes):
        raise SourceError(f"{where}: no bytes of an image. Download the release with its images")
    return data


def _parse_letter(answer: object, n_options: int, where: str) -> str:
    """Return the letter of an answer such as "(A)"."""
    letters = ascii_uppercase[:n_options]
    if not isinstance(answer, str) or answer not in [f"({letter})" for letter in letters]:
        raise SourceError(f"{where}: answer is {answer!r}, expected (A) to ({letters[-1]})")
    return answer.strip("()")
