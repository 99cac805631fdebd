"""Reads BLINK as its authors release it: the hub's files, the same as JSON, or the key alone.

A source folder is one of

* the hub's: ``<Task>/val-*.parquet`` and ``<Task>/test-*.parquet``, the images inside the rows;
* the same as JSON: ``<Task>/val.json`` and ``<Task>/test.json``, lists of rows in which an image
  is a path that starts at the JSON file's folder;
* the answer key: ``val_answers.json``, enough to score responses that were made elsewhere, and
  beside it ``val_answers_concatenated.json`` where a run on concatenated images has a key of its
  own;
* anything else: raw material of the data sets that BLINK is built from, see ``build``.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import Literal, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import SourceFile
from bench_assets.core.tables.json_records import Entry, field, read_entries
from bench_assets.core.tables.source_folder import files_below, inside, pin
from bench_assets.suites.blink.dataset.perception_tasks import PERCEPTION_TASKS, PerceptionTask

Route: TypeAlias = Literal["release", "key", "raw"]
Split: TypeAlias = Literal["val", "test"]

KEY = "val_answers.json"
CONCATENATED_KEY = "val_answers_concatenated.json"
SPLITS: tuple[Split, Split] = ("val", "test")

_IMAGES = ("image_1", "image_2", "image_3", "image_4")
_COLUMNS = ("idx", "question", "prompt", "sub_task", *_IMAGES, "choices", "answer", "explanation")
_ROWS = 8  # parquet rows in memory at once; one may hold four photographs
_HIDDEN = "hidden"  # what the test split has for an answer


@dataclass(frozen=True, slots=True, kw_only=True)
class BlinkItem:
    """One row of the release."""

    where: str  # file and row, for complaints
    idx: str  # "val_Jigsaw_12"
    task: PerceptionTask
    split: Split
    question: str
    prompt: str  # the question in full, with its options: what models are asked
    choices: tuple[str, ...]
    letter: str  # of the right option; "" if the release hides it
    explanation: str  # why it is right; only IQ_Test says
    images: tuple[bytes, ...]  # as they are in the file


def find_route(folder: Path) -> Route:
    """Say what a source folder holds."""
    if release_files(folder):
        return "release"
    return "key" if (folder / KEY).is_file() else "raw"


def source_files(folder: Path) -> list[SourceFile]:
    """Pin every file of a source by its content, sorted by path; hidden files are none."""
    return pin(files_below(folder), folder)


def release_files(folder: Path) -> list[tuple[PerceptionTask, Split, Path]]:
    """List the files of a release: task by task, the validation split first.

    Where a split is there as Parquet and as JSON, the Parquet files are taken.
    """
    return [
        (task, split, file)
        for task in PERCEPTION_TASKS.values()
        for split in SPLITS
        for file in _files_of(folder / task.name, split)
    ]


def absent_tasks(folder: Path) -> list[str]:
    """Name the tasks that a release lacks, because it was downloaded without their folders."""
    return [name for name in PERCEPTION_TASKS if not _files_of(folder / name, "val")]


def read_items(folder: Path) -> Iterator[BlinkItem]:
    """Read a release row by row; only a few rows are in memory at a time.

    Raises:
        SourceError: If a file is not as the authors describe it, or two rows are the same
            question; names file and row.
    """
    seen: dict[str, str] = {}
    for task, split, file in release_files(folder):
        rows = _parquet_rows(file) if file.suffix == ".parquet" else _json_rows(file)
        for entry, where in rows:
            item = _item(entry, where, task, split)
            if item.idx in seen:
                raise SourceError(f"{where}: {seen[item.idx]} is {item.idx} already; keep one file")
            seen[item.idx] = where
            yield item


def read_key(file: Path) -> dict[str, str]:
    """Read an answer key: the letter of the right option by id, in file order.

    Raises:
        SourceError: If it is not an object of answers, or an id or answer cannot be right.
    """
    key = {}
    for idx, answer in _answers(file).items():
        found = re.fullmatch(r"val_(.+)_\d+", idx)
        task = PERCEPTION_TASKS.get(found[1]) if found else None
        if task is None:
            raise SourceError(f"{file}: {idx!r} is no id such as val_Jigsaw_12")
        key[idx] = _letter(answer, len(task.options), f"{file}, {idx}")
    return key


def _files_of(folder: Path, split: Split) -> list[Path]:
    return sorted(folder.glob(f"{split}-*.parquet")) or sorted(folder.glob(f"{split}.json"))


def _answers(file: Path) -> dict[str, object]:
    try:
        answers = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as why:
        raise SourceError(f"{file}: cannot be read as JSON: {why}") from why
    if not isinstance(answers, dict):
        raise SourceError(f"{file}: expected an object of ids and answers, found {answers!r:.60}")
    return answers


def _parquet_rows(file: Path) -> Iterator[tuple[Entry, str]]:
    try:
        with pq.ParquetFile(file) as table:
            if missing := [name for name in _COLUMNS if name not in table.schema_arrow.names]:
                raise SourceError(f"{file}: no column {', '.join(missing)}: no file of the release")
            number = 0
            for batch in table.iter_batches(batch_size=_ROWS, columns=list(_COLUMNS)):
                batch.validate(full=True)  # else lengths that are not true crash the process
                for entry in batch.to_pylist():
                    number += 1
                    where = f"{file}, row {number} ({entry['idx']})"
                    yield entry | {name: _stored(entry, name, where) for name in _IMAGES}, where
    except (OSError, ValueError, pa.ArrowException) as why:
        raise SourceError(f"{file}: cannot be read as Parquet, or is cut short: {why}") from why


def _stored(entry: Entry, name: str, where: str) -> bytes | None:
    if entry[name] is None:
        return None
    data = entry[name].get("bytes") if isinstance(entry[name], dict) else None
    if not isinstance(data, bytes):
        raise SourceError(f"{where}: {name} holds no bytes; download the release with its images")
    return data


def _json_rows(file: Path) -> Iterator[tuple[Entry, str]]:
    for entry, where in read_entries(file):
        images = {name: _beside(file, entry, name, where) for name in _IMAGES}
        yield entry | images, where


def _beside(file: Path, entry: Entry, name: str, where: str) -> bytes | None:
    if entry.get(name) is None:
        return None
    image = inside(file.parent, field(entry, name, str, where), f"{where}, {name}")
    try:
        return image.read_bytes()
    except OSError as why:
        raise SourceError(f"{where}, {name}: {entry[name]!r:.80}: cannot be read: {why}") from why


def _item(entry: Entry, where: str, task: PerceptionTask, split: Split) -> BlinkItem:
    idx = field(entry, "idx", str, where)
    if not re.fullmatch(rf"{split}_{task.name}_\d+", idx):
        raise SourceError(f"{where}: idx is {idx!r}, expected {split}_{task.name}_ and a number")
    images = [entry[name] for name in _IMAGES if entry[name] is not None]
    if len(images) != task.images or None in [entry[name] for name in _IMAGES[: task.images]]:
        raise SourceError(f"{where}: {len(images)} images, {task.name} has {task.images} a row")
    answer = field(entry, "answer", str, where)
    choices = tuple(map(str, field(entry, "choices", list, where)))
    if len(set(choices)) != len(task.options) or len(choices) != len(task.options):
        raise SourceError(
            f"{where}: choices are {choices}; {task.name} has {len(task.options)} different ones"
        )
    return BlinkItem(
        where=where,
        idx=idx,
        task=task,
        split=split,
        question=field(entry, "question", str, where),
        prompt=field(entry, "prompt", str, where),
        choices=choices,
        letter="" if answer == _HIDDEN else _letter(answer, len(choices), where),
        explanation=field(entry, "explanation", str, where) if entry.get("explanation") else "",
        images=tuple(images),
    )


def _letter(answer: object, n_options: int, where: str) -> str:
    letters = ascii_uppercase[:n_options]
    if not isinstance(answer, str) or answer not in [f"({letter})" for letter in letters]:
        raise SourceError(f"{where}: answer is {answer!r}, expected (A) to ({letters[-1]})")
    return answer[1]
