"""Reads a CODIS folder, the release or the raw material of a new edition, and builds questions.

* **published** (github.com/THUNLP-MT/CODIS): ``data.json``, a list of entries ``{id, image_id,
  question, context: {context_1, context_2}, answer: {answer_1, answer_2}, category}``, and the
  images in ``images/`` (or in the only folder whose name starts with ``images``);
* **raw** (collected as in section 3.4): ``submissions.json``, entries as above with ``annotator``
  and with ``revises``, the id of the entry it replaces or null; ``votes.json``, a list of
  ``{submission, annotator, correct, different, within_rules}`` (the last three true or false)
  with an optional ``comment``; and ``images/``, which also holds images without submissions.

Either may hold ``captions.jsonl``: lines of ``{image_id, caption}``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Edition, Question, SourceFile, StoredImage
from bench_assets.core.tables.build import Table
from bench_assets.core.tables.json_records import (
    Entry,
    make_rows,
    read_entries,
    read_lines,
    records,
    require_field,
)
from bench_assets.core.tables.source_folder import image_files, pin, resolve_inside


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPair:
    """An image and question under two contexts that change the answer (section 3.2)."""

    pair_id: str
    image: str  # file name in the folder of images
    question: str
    contexts: tuple[str, str]
    answers: tuple[str, str]
    category: str
    annotator: str = ""  # "": published, therefore verified by the authors
    revises: str = ""  # the submission it replaces, if any


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionVote:
    """An annotator's vote on another's submission (section 3.4, data verification)."""

    submission: str
    annotator: str
    correct: bool
    different: bool  # from the existing data, "to a significant extent"
    within_rules: bool  # of section 3.4; above all that image and context are both needed
    comment: str = ""
    seconds: float | None = None  # s; None if not measured
    at: str = ""  # ISO 8601; "" if unknown
    tool: str = ""  # annotation tool; "": a file of the source

    @property
    def approves(self) -> bool:
        """Whether all three conditions hold."""
        return self.correct and self.different and self.within_rules


@dataclass(frozen=True, slots=True, kw_only=True)
class CodisRelease:
    """Files of the suite in a source folder; None for an absent one."""

    folder: Path
    entries: Path
    votes: Path | None
    images: Path
    captions: Path | None


def find_release(folder: Path) -> CodisRelease:
    """Find the files of either route in a folder.

    Raises:
        SourceError: If the folder has the files of both routes or of neither, or not exactly one
            folder of images.
    """
    data, submissions = folder / "data.json", folder / "submissions.json"
    votes, captions = folder / "votes.json", folder / "captions.jsonl"
    is_raw = submissions.is_file() and votes.is_file()
    if is_raw and data.is_file():
        raise SourceError(f"{folder}: holds data.json and submissions.json. Remove one of them")
    if not is_raw and not data.is_file():
        raise SourceError(
            f"{folder}: no CODIS data: expected data.json and images/ (the authors' release), "
            "or submissions.json, votes.json and images/ (an edition to be built)"
        )
    return CodisRelease(
        folder=folder,
        entries=submissions if is_raw else data,
        votes=votes if is_raw else None,
        images=_image_folder(folder),
        captions=captions if captions.is_file() else None,
    )


def source_files(release: CodisRelease) -> list[SourceFile]:
    """Pin every file that belongs to the suite, sorted by path."""
    files = (release.entries, release.votes, release.captions)
    present = [file for file in files if file]
    return pin([*present, *image_files(release.images).values()], release.folder)


def image_names(files: Iterable[SourceFile]) -> list[str]:
    """Paths of the images of a source, relative to its folder of images."""
    return [file.path.split("/", 1)[1] for file in files if "/" in file.path]


def read_pairs(release: CodisRelease) -> Table[ContextPair]:
    """Read the valid entries in file order; ``votes.select_pairs`` checks their contents.

    Raises:
        SourceError: If the file is not a JSON list.
    """
    return make_rows(read_entries(release.entries), partial(_pair, release))


def read_votes(release: CodisRelease) -> Table[SubmissionVote]:
    """Read the valid votes in file order, none of a release; raises as ``read_pairs``."""
    return records(read_entries(release.votes) if release.votes else (), SubmissionVote)


def read_captions(file: Path) -> Table[tuple[str, str]]:
    """Read image names and captions from JSON lines; invalid lines and second ones are rejected.

    Raises:
        SourceError: If the file cannot be read.
    """
    captions = Table[tuple[str, str]]()
    captioned: set[str] = set()
    for line in read_lines(file):
        with captions.rejecting(line.where):
            image = require_field(line.entry, "image_id", str, line.where)
            text = require_field(line.entry, "caption", str, line.where).strip()
            if image in captioned:
                raise SourceError(f"{line.where}: second caption for {image}. Remove one of them")
            captioned.add(image)
            captions.rows.append((image, text))
    return captions


def _image_folder(folder: Path) -> Path:
    if (folder / "images").is_dir():
        return folder / "images"
    folders = sorted(path for path in folder.glob("images*") if path.is_dir())
    if len(folders) != 1:
        names = ", ".join(path.name for path in folders) or "none"
        raise SourceError(f"{folder}: expected a folder images/ with the images; found: {names}")
    return folders[0]


def _pair(release: CodisRelease, entry: Entry, where: str) -> ContextPair:
    image = require_field(entry, "image_id", str, where)
    resolve_inside(release.images, image, where)
    annotator, revises = _origin(entry, where) if release.votes else ("", "")
    return ContextPair(
        pair_id=require_field(entry, "id", str, where),
        image=image,
        question=require_field(entry, "question", str, where),
        contexts=_both_texts(entry, "context", where),
        answers=_both_texts(entry, "answer", where),
        category=require_field(entry, "category", str, where),
        annotator=annotator,
        revises=revises,
    )


def _origin(entry: Entry, where: str) -> tuple[str, str]:
    """The annotator of a submission, and the id of the entry that it revises, "" for none."""
    annotator = require_field(entry, "annotator", str, where)
    if not annotator:
        raise SourceError(f"{where}: field 'annotator' is empty. Set the annotator's name")
    if entry.get("revises") is None:
        return annotator, ""
    return annotator, require_field(entry, "revises", str, where)


def _both_texts(entry: Entry, name: str, where: str) -> tuple[str, str]:
    """The two texts of a field: of ``context``, for example, context_1 and context_2."""
    texts = require_field(entry, name, dict, where)
    first = require_field(texts, f"{name}_1", str, where)
    second = require_field(texts, f"{name}_2", str, where)
    return first, second


def to_questions(
    pairs: Iterable[ContextPair], images: Mapping[str, StoredImage], edition: Edition
) -> list[Question]:
    """Build two questions per pair, one for each context (section 3.2)."""
    return [
        Question(
            question_id=f"codis/{pair.pair_id}/{half}",
            task="codis",
            edition=edition,
            kind="text",
            text=pair.question,
            answer=(answer,),
            images=(images[pair.image].sha256,),
            options=pair.answers,
            context=context,
            category=pair.category,
            group_id=pair.pair_id,
            labels={"image": pair.image},
        )
        for pair in pairs
        for half, context, answer in zip((1, 2), pair.contexts, pair.answers, strict=True)
    ]
