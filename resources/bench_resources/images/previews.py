"""Previews of questions with their images, as metadata in the UI."""

import base64
import io
from collections.abc import Sequence
from typing import TypeVar

import dagster as dg

from bench_assets.core.reading.choices import lettered
from bench_assets.core.schema.rows import Question
from bench_assets.core.text.escaping import escape_markdown
from bench_resources.images.store import ImageStore

Row = TypeVar("Row")

_SIDE = 120  # px; six thumbnails stay under 40 KB, and metadata is kept for every materialization
_IMAGES = 80_000  # the most characters of all images of a page
_IMAGES_OF_ONE = 8  # the most images of a question
_TEXT = 500  # the most characters of a text
_TEXTS = 100_000  # the most characters of all texts of a page; an escaped character counts as five


class PreviewTable:
    """A Markdown table of limited size, with thumbnails as data URLs and escaped texts."""

    def __init__(self, image_store: ImageStore, columns: Sequence[str]) -> None:
        """Begin a table with these columns; the second is for images."""
        self._images = image_store
        self._left, self._room = _IMAGES, _TEXTS
        self._head = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
        self._lines: list[str] = []

    def add(self, name: str, images: Sequence[str], texts: Sequence[str]) -> None:
        """Add a line: its name, the digests of its images, and the other cells."""
        thumbnails = [self._thumbnail(digest) for digest in images[:_IMAGES_OF_ONE]]
        if len(images) > _IMAGES_OF_ONE:
            thumbnails.append(f"(and {len(images) - _IMAGES_OF_ONE} more)")
        cells = [self._text(name), " ".join(thumbnails), *map(self._text, texts)]
        self._lines.append(f"| {' | '.join(cells)} |")

    def shown(self, name: str) -> dict[str, dg.MetadataValue]:
        """Metadata with the table under a name; {} without lines."""
        written = "\n".join([*self._head, *self._lines])
        return {name: dg.MetadataValue.md(written)} if self._lines else {}

    def _thumbnail(self, digest: str) -> str:
        if self._left <= 0:
            return "(not shown)"
        thumbnail = _thumbnail(digest, self._images)
        self._left -= len(thumbnail)
        return thumbnail

    def _text(self, text: str) -> str:
        escaped = escape_markdown(text if len(text) <= _TEXT else f"{text[:_TEXT]} …")
        if len(escaped) > self._room:
            return "(not shown)"
        self._room -= len(escaped)
        return escaped


def question_preview(
    questions: Sequence[Question], image_store: ImageStore
) -> dict[str, dg.MetadataValue]:
    """Preview six questions at even intervals of the table, with images."""
    page = PreviewTable(image_store, ["id", "images", "context", "question", "options", "answer"])
    for question in sample_evenly(questions, 6):
        texts = [question.context, question.text, options_of(question)]
        page.add(question.question_id, question.images, [*texts, " / ".join(question.answer)])
    return page.shown("questions")


def options_of(question: Question) -> str:
    """The lettered options of a question; "" if it has none."""
    if question.kind not in ("choice", "choices"):
        return ""
    return lettered(question.options)


def sample_evenly(rows: Sequence[Row], n: int) -> Sequence[Row]:
    """Up to ``n`` rows, spread evenly.

    >>> sample_evenly(range(11), 4)
    [0, 2, 5, 8]
    """
    n = min(n, len(rows))
    return [rows[len(rows) * k // n] for k in range(n)]


def _thumbnail(digest: str, image_store: ImageStore) -> str:
    image = image_store.open_if_whole(digest)
    if image is None:
        return "(cannot be shown)"
    image.thumbnail((_SIDE, _SIDE))
    data = io.BytesIO()
    image.save(data, "JPEG", quality=70)
    return f"![image](data:image/jpeg;base64,{base64.b64encode(data.getvalue()).decode()})"
