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

# px; six thumbnails stay under 40 KB: metadata of every materialization is kept
_THUMBNAIL_SIDE = 120
_MAX_IMAGE_CHARACTERS = 80_000  # characters of all images of a table
_MAX_IMAGES = 8  # images of a question
_MAX_TEXT = 500  # characters of a text
_MAX_TEXT_CHARACTERS = 100_000  # characters of all texts of a table; an escaped one counts as five


class PreviewTable:
    """A Markdown table of limited size, with thumbnails as data URLs and escaped texts."""

    def __init__(self, image_store: ImageStore, columns: Sequence[str]) -> None:
        """Create a table with these columns; the second is for images."""
        self._image_store = image_store
        self._image_characters, self._text_characters = _MAX_IMAGE_CHARACTERS, _MAX_TEXT_CHARACTERS
        self._head = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
        self._lines: list[str] = []

    def add(self, name: str, images: Sequence[str], texts: Sequence[str]) -> None:
        """Add a line: its name, the digests of its images, and the other cells."""
        thumbnails = [self._thumbnail(digest) for digest in images[:_MAX_IMAGES]]
        if len(images) > _MAX_IMAGES:
            thumbnails.append(f"(and {len(images) - _MAX_IMAGES} more)")
        cells = [self._text(name), " ".join(thumbnails), *map(self._text, texts)]
        self._lines.append(f"| {' | '.join(cells)} |")

    def metadata(self, name: str) -> dict[str, dg.MetadataValue]:
        """Metadata with the table under a name; {} without lines."""
        table = "\n".join([*self._head, *self._lines])
        return {name: dg.MetadataValue.md(table)} if self._lines else {}

    def _thumbnail(self, digest: str) -> str:
        """Markdown of an image in small, as a data URL, while the table has room for images."""
        if self._image_characters <= 0:
            return "(not shown)"
        image = self._image_store.open_if_whole(digest)
        if image is None:
            return "(cannot be shown)"
        image.thumbnail((_THUMBNAIL_SIDE, _THUMBNAIL_SIDE))
        data = io.BytesIO()
        image.save(data, "JPEG", quality=70)
        encoded = base64.b64encode(data.getvalue()).decode()
        self._image_characters -= len(encoded)
        return f"![image](data:image/jpeg;base64,{encoded})"

    def _text(self, text: str) -> str:
        escaped = escape_markdown(text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]} …")
        if len(escaped) > self._text_characters:
            return "(not shown)"
        self._text_characters -= len(escaped)
        return escaped


def question_preview(
    questions: Sequence[Question], image_store: ImageStore
) -> dict[str, dg.MetadataValue]:
    """Preview up to six questions at even intervals of the table, with images."""
    table = PreviewTable(image_store, ["id", "images", "context", "question", "options", "answer"])
    for question in sample_evenly(questions, 6):
        options = lettered(question.options) if question.kind in ("choice", "choices") else ""
        texts = [question.context, question.text, options, " / ".join(question.answer)]
        table.add(question.question_id, question.images, texts)
    return table.metadata("questions")


def sample_evenly(rows: Sequence[Row], n: int) -> Sequence[Row]:
    """Sample up to ``n`` rows at even intervals.

    >>> sample_evenly(range(11), 4)
    [0, 2, 5, 8]
    """
    n = min(n, len(rows))
    return [rows[len(rows) * index // n] for index in range(n)]
