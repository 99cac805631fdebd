"""Questions with their images, small enough to lie in an event of the UI."""

import base64
import io
from collections.abc import Sequence
from typing import TypeVar

import dagster as dg

from bench_assets.core.parsing.choices import lettered
from bench_assets.core.schema.rows import Question
from bench_assets.core.text.escaping import as_text
from resources.images.store import ImageStore

Row = TypeVar("Row")

_SIDE = 120  # px; six thumbnails stay under 40 KB, and metadata is kept for every materialization
_IMAGES = 80_000  # characters of a page that images may fill
_IMAGES_OF_ONE = 8  # that are shown of a question
_TEXT = 500  # characters of a text that are shown
_TEXTS = 100_000  # characters of a page that texts may fill; a mark is five


class Page:
    """A table in Markdown with thumbnails; it stays small whatever it is given.

    Texts are shown as they are written, whatever they hold; images are data, not addresses.
    """

    def __init__(self, image_store: ImageStore, columns: Sequence[str]) -> None:
        """Begin with the names of the columns; the second holds images."""
        self._images = image_store
        self._left, self._room = _IMAGES, _TEXTS
        self._head = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
        self._lines: list[str] = []

    def add(self, name: str, images: Sequence[str], texts: Sequence[str]) -> None:
        """Add a line: its name, the digests of its images, and the other cells."""
        shown = [self._thumbnail(digest) for digest in images[:_IMAGES_OF_ONE]]
        if len(images) > _IMAGES_OF_ONE:
            shown.append(f"(and {len(images) - _IMAGES_OF_ONE} more)")
        cells = [self._text(name), " ".join(shown), *map(self._text, texts)]
        self._lines.append(f"| {' | '.join(cells)} |")

    def shown(self, name: str) -> dict[str, dg.MetadataValue]:
        """The page under a name; without a line there is none."""
        written = "\n".join([*self._head, *self._lines])
        return {name: dg.MetadataValue.md(written)} if self._lines else {}

    def _thumbnail(self, digest: str) -> str:
        if self._left <= 0:
            return "(not shown)"
        shown = _thumbnail(digest, self._images)
        self._left -= len(shown)
        return shown

    def _text(self, text: str) -> str:
        shown = as_text(text if len(text) <= _TEXT else f"{text[:_TEXT]} …")
        if len(shown) > self._room:
            return "(not shown)"
        self._room -= len(shown)
        return shown


def question_preview(
    questions: Sequence[Question], image_store: ImageStore, n: int = 6
) -> dict[str, dg.MetadataValue]:
    """Show questions spread evenly over the table, as a person would look at them."""
    page = Page(image_store, ["id", "images", "context", "question", "options", "answer"])
    for question in spread(questions, n):
        texts = [question.context, question.text, options_of(question)]
        page.add(question.question_id, question.images, [*texts, " / ".join(question.answer)])
    return page.shown("questions")


def options_of(question: Question) -> str:
    """The options of a question that has some to choose from."""
    return lettered(question.options) if question.kind in ("choice", "choices") else ""


def spread(rows: Sequence[Row], n: int) -> Sequence[Row]:
    """Take up to ``n`` rows, spread evenly over all."""
    return rows[:: max(1, len(rows) // n)][:n]


def _thumbnail(digest: str, image_store: ImageStore) -> str:
    image = image_store.open_if_whole(digest)
    if image is None:
        return "(cannot be shown)"
    image.thumbnail((_SIDE, _SIDE))
    data = io.BytesIO()
    image.save(data, "JPEG", quality=70)
    return f"![image](data:image/jpeg;base64,{base64.b64encode(data.getvalue()).decode()})"
