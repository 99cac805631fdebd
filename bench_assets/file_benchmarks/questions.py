"""Builds questions from the rows of a file, and rejections from unusable rows."""

import json
import re
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from random import Random
from string import ascii_uppercase
from typing import TypeAlias

from bench_assets.core.answer_types.options import read_answer, read_options
from bench_assets.core.schema.errors import ImageError, SettingsError, SourceError
from bench_assets.core.schema.rows import Question, Rejection, StoredImage
from bench_assets.core.tables.large_tables import RowCollector, TextIndex, gathered
from bench_assets.file_benchmarks.images import Folder, Image, images_of
from bench_assets.file_benchmarks.row_files import (
    Row,
    cells_of,
    columns_of,
    labels_of,
    read_rows,
    require_columns,
    text_of,
)
from resources.config.bench_toml import Settings
from resources.config.sections.benchmarks import FileBenchmarkSettings

StoreImage: TypeAlias = Callable[[Image, str], StoredImage]

_OF_OTHERS = re.compile(
    r"\bof the (?:above|below|others?)\b|\b(?-i:[A-H] (?:and|or|nor) [A-H])\b|\([A-H]\)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLocation:
    """File and name of a benchmark."""

    name: str
    file: Path  # or folder
    image_folder: Path  # what paths of images start at
    section: str  # "bench.toml, [benchmarks.fridge]": where its settings stand


@dataclass(frozen=True, slots=True, kw_only=True)
class FileQuestions:
    """Questions and rejections of a file."""

    questions: Sequence[Question]
    rejections: Sequence[Rejection]
    images: Sequence[StoredImage]


class _QuestionBuilder:
    """Questions and rejections of rows, in order."""

    def __init__(self, store: StoreImage, place: FileLocation) -> None:
        """Begin; ``store`` puts an image into the image store, under a name."""
        self.folder = Folder(place.image_folder)
        self._root = place.image_folder.resolve()
        self.questions = RowCollector(Question)
        self.rejections = RowCollector(Rejection)
        self._ids, self._rows = TextIndex(), array("I")  # in which row each was first, from 0
        self._store = store
        self._images = RowCollector(StoredImage)
        self._names, self._digests = TextIndex(), bytearray()  # of images, 32 bytes each

    def first_row(self, question_id: str, row: int) -> int:
        """Location of the first row with a question: this one, unless it occurred before."""
        number = self._ids.number(question_id)
        if number == len(self._rows):
            self._rows.append(row)
        return self._rows[number]

    def image(self, file: Path) -> str:
        """Store a file once, even if several rows show it; returns its digest."""
        name = file.relative_to(self._root).as_posix()
        if (number := self._names.find(name)) is None:
            digest = self.embedded(file, name)
            self._names.number(name)
            self._digests += bytes.fromhex(digest)
            return digest
        return self._digests[32 * number : 32 * (number + 1)].hex()

    def embedded(self, file: Image, name: str) -> str:
        """Store an image; its digest."""
        image = self._store(file, name)
        self._images.append(image)
        return image.sha256

    def built(self) -> FileQuestions:
        """Questions and rejections so far."""
        return FileQuestions(
            questions=self.questions.rows(),
            rejections=self.rejections.rows(),
            images=self._images.rows(),
        )


def place_of(name: str, file: Path, settings: Settings) -> FileLocation:
    """Location of a benchmark."""
    beside = file if file.is_dir() else file.parent
    named = settings.benchmarks[name].image_folder
    return FileLocation(
        name=name,
        file=file,
        image_folder=settings.resolve(named) if named else beside,
        section=settings.section(name),
    )


def build(
    benchmark: FileBenchmarkSettings, place: FileLocation, store: StoreImage
) -> FileQuestions:
    """Read a benchmark: every row is a question or a rejection, in the order of the file.

    Raises:
        SourceError: If the file cannot be read or is cut short, or no row can be used.
        SettingsError: If the settings name a column that no row has, or must say whether answers
            count from 0 or 1.
    """
    building, columns = _QuestionBuilder(store, place), dict[str, None]()
    for n, row in enumerate(read_rows(place.file, benchmark.split)):
        columns |= dict.fromkeys(row.cells)
        try:
            question = _question(row, benchmark, place, building)
        except SettingsError as why:
            raise SettingsError(f"{place.section}: {row.where}: {why}") from why
        except (SourceError, ImageError) as why:
            building.rejections.append(Rejection(entry=row.where, reason=str(why)))
            continue
        first = building.first_row(question.question_id, n)
        if first == n:
            building.questions.append(question)
            continue
        before = next(islice(read_rows(place.file, benchmark.split), first, None)).where
        with_id = columns_of(row.cells, benchmark, "id")
        same = f"id {question.question_id}" if with_id else "question"
        reason = f"the same {same} as {before}"
        building.rejections.append(Rejection(entry=row.where, reason=reason))
    require_columns(benchmark, list(columns), place.section)
    built = building.built()
    if not built.questions:
        first_ = "; ".join(f"{one.entry}: {one.reason}" for one in built.rejections[:1])
        raise SourceError(f"{place.file}: no usable row: {first_ or 'the file is empty'}")
    return built


def image_files(benchmark: FileBenchmarkSettings, place: FileLocation) -> list[str]:
    """List the existing image files that rows name, sorted.

    Texts rather than paths: a million of them take a fifth of the memory.
    """
    files, folder = set[str](), Folder(place.image_folder)
    for row in read_rows(place.file, benchmark.split):
        try:
            found = images_of(cells_of(row.cells, benchmark, "images"), folder)
        except SourceError:
            continue  # a rejection when the row is read
        files.update(str(one) for one in found if isinstance(one, Path))
    return sorted(files)


def shuffled(questions: Sequence[Question], seed: int) -> Sequence[Question]:
    """Shuffle the options of each question.

    Leaves out questions without options, and those with an option that refers to others, such as
    "all of the above" or "A and B".
    """
    drawn = (
        _shuffled(question, Random(f"{seed}\n{question.question_id}"))
        for question in questions
        if question.options and not any(map(_OF_OTHERS.search, question.options))
    )
    return gathered(drawn, Question)


def _question(
    row: Row, benchmark: FileBenchmarkSettings, place: FileLocation, building: _QuestionBuilder
) -> Question:
    if row.fault:
        raise SourceError(row.fault)
    cells = row.cells
    if not (text := text_of(cells, benchmark, "question")):
        raise SourceError("no question")
    options = read_options(cells_of(cells, benchmark, "options"))
    gold = cells_of(cells, benchmark, "answer")
    kind, answer, _ = read_answer(gold[0] if gold else None, options, benchmark.answers)
    images = images_of(cells_of(cells, benchmark, "images"), building.folder)
    question = Question(
        question_id="",
        task=place.name,
        edition="own",
        kind=kind,
        text=text,
        answer=answer,
        images=tuple(
            _stored(one, f"{row.where}, image {nth}", building) for nth, one in enumerate(images, 1)
        ),
        options=options,
        context=text_of(cells, benchmark, "context"),
        category=text_of(cells, benchmark, "category"),
        group_id=text_of(cells, benchmark, "group"),
        labels=labels_of(cells, benchmark),
    )
    has_id = columns_of(cells, benchmark, "id")
    if not (named := text_of(cells, benchmark, "id") if has_id else _digest(question)):
        raise SourceError("no id (expected one, since the file has a column for it)")
    return replace(question, question_id=f"{place.name}/{named}")


def _stored(image: Image, where: str, building: _QuestionBuilder) -> str:
    """Store an image; its digest."""
    if isinstance(image, Path):
        return building.image(image)
    return building.embedded(image, where)


def _digest(question: Question) -> str:
    """Derive an id from the question's content without its answer, which may be corrected."""
    asked = [question.text, question.context, question.options, question.images]
    return sha256(json.dumps(asked).encode()).hexdigest()[:12]


def _shuffled(question: Question, rng: Random) -> Question:
    order = list(range(len(question.options)))
    rng.shuffle(order)
    letters = {ascii_uppercase[old]: ascii_uppercase[new] for new, old in enumerate(order)}
    return replace(
        question,
        options=tuple(question.options[old] for old in order),
        answer=tuple(sorted(letters[letter] for letter in question.answer)),
    )
