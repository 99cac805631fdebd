"""What a bundle holds: every table of one evaluation, its prompts and its images, as files."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from bench_assets.bundles.archive import Archive, Piece, pack
from bench_assets.bundles.json_lines import from_lines, to_lines
from bench_assets.bundles.manifest import NAME, FileFacts, Manifest
from bench_assets.bundles.rescoring import Again
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from resources.images.store import MAX_BYTES

MOST = 2**30  # bytes of a table

IMAGES = "images/"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptText:
    """What was asked, by its digest."""

    sha256: str
    turns: str  # JSON, as ``Prompt.to_json`` writes it


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The tables of one evaluation."""

    questions: Sequence[Question]
    prompts: Sequence[PromptText]
    predictions: Sequence[Prediction]
    judge_prompts: Sequence[PromptText]
    judgements: Sequence[Judgement]
    scores: Sequence[Score]
    metrics: Sequence[Metric]
    images: Mapping[str, int] = field(default_factory=dict)
    """Digest -> bytes, of those that go with it."""

    @property
    def evaluated(self) -> Again:
        """What came of the responses."""
        return Again(self.predictions, self.judgements, self.scores, self.metrics)

    @property
    def shown(self) -> list[str]:
        """Digests of all images that questions show, sorted."""
        return sorted({digest for question in self.questions for digest in question.images})


TABLES: Mapping[str, type[Any]] = {
    "questions": Question,
    "prompts": PromptText,
    "predictions": Prediction,
    "judge_prompts": PromptText,
    "judgements": Judgement,
    "scores": Score,
    "metrics": Metric,
}


def file_of(table: str) -> str:
    """The file that a table lies in."""
    return f"{table}.jsonl"


def image_file(digest: str) -> str:
    """The file that an image lies in."""
    return f"{IMAGES}{digest}"


def write_contents(
    contents: Contents, about: Manifest, target: Path, read_image: Callable[[str], bytes]
) -> Manifest:
    """Write a bundle; gives its manifest, with all digests.

    Raises:
        TableError: If it is more than a bundle holds.
        HomeError: If it cannot be written.
        ImageError: If an image is not as it was stored.
    """
    tables = {file_of(name): to_lines(getattr(contents, name)) for name in TABLES}
    facts = {
        name: FileFacts(sha256=sha256(data).hexdigest(), n_bytes=len(data))
        for name, data in tables.items()
    }
    facts |= {
        image_file(digest): FileFacts(sha256=digest, n_bytes=n_bytes)
        for digest, n_bytes in contents.images.items()
    }
    images = {
        digest: image_file(digest) if digest in contents.images else "" for digest in contents.shown
    }
    manifest = about.model_copy(update={"files": facts, "images": images}).checksummed()
    pack(_pieces(contents, tables, manifest, read_image), target)
    return manifest


def read_contents(archive: Archive, manifest: Manifest) -> Contents:
    """Read the tables of a bundle, and look at every other file; images stay where they are.

    Raises:
        SourceError: If a file is not what its digest says, or no table; names file and entry.
    """
    tables: dict[str, Any] = {
        name: from_lines(
            archive.require(file_of(name), manifest.files[file_of(name)].sha256, MOST),
            row_type,
            f"{archive.path}, {file_of(name)}",
        )
        for name, row_type in TABLES.items()
    }
    for name in sorted(manifest.files.keys() - {file_of(table) for table in TABLES}):
        archive.require(name, manifest.files[name].sha256, MAX_BYTES)
    return Contents(**tables)


def _pieces(
    contents: Contents,
    tables: Mapping[str, bytes],
    manifest: Manifest,
    read_image: Callable[[str], bytes],
) -> Iterator[Piece]:
    yield Piece(NAME, manifest.to_bytes)
    for name, data in tables.items():
        yield Piece(name, lambda data=data: data)  # type: ignore[misc]
    for digest in contents.images:
        yield Piece(image_file(digest), partial(read_image, digest))
