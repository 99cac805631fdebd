"""Reads a CogBench folder: the authors' release, or the raw material of an edition of your own.

* **published** (github.com/xiujiesong/Cog-Bench; the full set only after a signed agreement):
  ``cogbench_description.json``, an object image id -> ``{"Image Name", "Entities": [...], eight
  lists "... Reasoning" (["None"] when absent), "Description": [text]}``; ``cogbench_vqa.json``, a
  list of ``{question, choice_a .. choice_d, answer: "A".."D", img_id, category}``; and the images
  in ``images/``. Each of the two files is enough for its own task;
* **raw** (the route of section 2.2): ``annotations.json``, a list of ``{image, annotator,
  annotation}`` with texts in the form of Figure 6, and ``images/``. Optional are ``reviews.json``
  and ``refinements.json``, the decisions of people (see ``construction.annotation_files`` and
  ``vqa.refinement``), and ``writer_responses.jsonl``, the responses of the writer model.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Edition, SourceFile
from bench_assets.core.tables.build import Table
from bench_assets.core.tables.json_records import (
    Entry,
    LocatedEntry,
    make_rows,
    read_entries,
    read_json,
    records,
    require_field,
)
from bench_assets.core.tables.source_folder import image_files, pin
from bench_assets.suites.cogbench.dataset.reasoning import KINDS, Kind, find_kind, is_none

DESCRIPTIONS, QUESTIONS = "cogbench_description.json", "cogbench_vqa.json"
ANNOTATIONS, REVIEWS = "annotations.json", "reviews.json"
REFINEMENTS, WRITER_RESPONSES = "refinements.json", "writer_responses.jsonl"
_OPTIONS = ("choice_a", "choice_b", "choice_c", "choice_d")


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """An image with its final annotation (section 2.2)."""

    image_id: str
    image: str  # file name
    entities: tuple[str, ...]
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryChain:
    """A chain of reasoning of a story; repeated ones have numbers of their own."""

    image_id: str
    kind: str  # as Table 1 names it
    number: int  # from 1, within image and kind
    text: str  # "A1. + A2. -> B."


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceQuestion:
    """A multiple-choice question of the authors' file."""

    where: str  # file and entry
    image_id: str
    category: str  # in any spelling
    text: str
    options: tuple[str, ...]
    answer: str  # a letter


@dataclass(frozen=True, slots=True, kw_only=True)
class RawAnnotation:
    """An annotator's text about an image, in the form of Figure 6."""

    image: str  # file name
    annotator: str
    annotation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CogBenchRelease:
    """A source folder: its route, and its folder of images."""

    folder: Path
    edition: Edition  # "published" or "built"
    images: Path


def find_release(folder: Path) -> CogBenchRelease:
    """Find out by the files of a folder whether it is the release or raw material.

    Raises:
        SourceError: If the folder has the files of both routes or of neither, or no images.
    """
    is_raw = (folder / ANNOTATIONS).is_file()
    released = [name for name in (DESCRIPTIONS, QUESTIONS) if (folder / name).is_file()]
    if is_raw and released:
        raise SourceError(f"{folder}: holds {ANNOTATIONS} and {released[0]}. Remove one of them")
    if not is_raw and not released:
        raise SourceError(
            f"{folder}: no CogBench data (expected {DESCRIPTIONS} or {QUESTIONS}, or "
            f"{ANNOTATIONS}). Name the folder of the data"
        )
    images = folder / "images"
    if not images.is_dir():
        raise SourceError(f"{folder}: no folder images/. Put the images into it")
    return CogBenchRelease(folder=folder, edition="built" if is_raw else "published", images=images)


def source_files(release: CogBenchRelease) -> list[SourceFile]:
    """Pin every file that belongs to the suite, sorted by path."""
    files = [DESCRIPTIONS, QUESTIONS, ANNOTATIONS, REVIEWS, REFINEMENTS, WRITER_RESPONSES]
    listed = [release.folder / name for name in files if (release.folder / name).is_file()]
    return pin([*listed, *image_files(release.images).values()], release.folder)


def read_stories(release: CogBenchRelease) -> Table[Story]:
    """Read the images of a published edition, in file order.

    Raises:
        SourceError: If the file cannot be read, or is not a JSON object.
    """
    table = _read_published(release)
    rows = [story for story, _ in table.rows]
    return Table(rows=rows, rejections=table.rejections, errors=table.errors)


def read_chains(release: CogBenchRelease) -> Table[StoryChain]:
    """Read the chains of a published edition, without "None".

    Raises:
        SourceError: If the file cannot be read, or is not a JSON object.
    """
    table = _read_published(release)
    rows = [chain for _, chains in table.rows for chain in chains]
    return Table(rows=rows, rejections=table.rejections, errors=table.errors)


def read_questions(release: CogBenchRelease) -> Table[SourceQuestion]:
    """Read the questions of a published edition, unchanged.

    Raises:
        SourceError: If the file cannot be read, or is not a JSON list.
    """
    return make_rows(read_entries(release.folder / QUESTIONS), partial(_source_question, release))


def _source_question(release: CogBenchRelease, entry: Entry, where: str) -> SourceQuestion:
    return SourceQuestion(
        where=where.removeprefix(f"{release.folder}/"),
        image_id=require_field(entry, "img_id", str, where),
        category=require_field(entry, "category", str, where),
        text=require_field(entry, "question", str, where),
        options=tuple(require_field(entry, name, str, where) for name in _OPTIONS),
        answer=require_field(entry, "answer", str, where),
    )


def read_annotations(release: CogBenchRelease) -> Table[RawAnnotation]:
    """Read the annotators' texts; a published edition has none.

    An annotator's second entry for an image is rejected.

    Raises:
        SourceError: If the file cannot be read, or is not a JSON list.
    """
    if release.edition == "published":
        return Table()
    entries = read_entries(release.folder / ANNOTATIONS)
    return records(entries, RawAnnotation, unique=("image", "annotator"))


def _read_published(release: CogBenchRelease) -> Table[tuple[Story, list[StoryChain]]]:
    """Stories with their chains; an entry with a broken chain has neither."""
    file = release.folder / DESCRIPTIONS
    entries = read_json(file)
    if not isinstance(entries, dict):
        raise SourceError(f"{file}: expected an object, image id -> annotation, at the top")
    table = Table[tuple[Story, list[StoryChain]]]()
    for image_id, entry in entries.items():
        where = f"{file}, entry {image_id!r}"
        with table.rejecting(where):
            fields = LocatedEntry(entry, where).entry
            table.rows.append((_story(image_id, fields, where), _chains(image_id, fields, where)))
    return table


def _story(image_id: str, entry: Entry, where: str) -> Story:
    return Story(
        image_id=image_id,
        image=require_field(entry, "Image Name", str, where),
        entities=tuple(_texts(entry, "Entities", where)),
        description=" ".join(_texts(entry, "Description", where)),
    )


def _chains(image_id: str, entry: Entry, where: str) -> list[StoryChain]:
    return [
        StoryChain(image_id=image_id, kind=kind.name, number=number, text=text)
        for kind in KINDS
        for number, text in enumerate(_texts(entry, _field_name(entry, kind), where), 1)
    ]


def _field_name(entry: Entry, kind: Kind) -> str:
    """The name of a kind's field in an entry; without one, the authors' name, for the error."""
    return next((name for name in entry if find_kind(name) == kind), kind.field)


def _texts(entry: Entry, name: str, where: str) -> list[str]:
    """The texts of a list field with single blanks, without "None"."""
    values = require_field(entry, name, list, where)
    texts = [require_field({name: value}, name, str, where) for value in values]
    return [" ".join(text.split()) for text in texts if not is_none(text)]
