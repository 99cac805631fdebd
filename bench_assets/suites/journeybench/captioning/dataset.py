"""Reads people's captions, splits cells that hold several, and builds questions."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Question
from bench_assets.core.tables.build import Table
from bench_assets.core.tables.json_records import Entry, make_rows, require_field
from bench_assets.suites.journeybench.published_files import (
    name_of,
    number_repeated,
    read_records,
    read_text_field,
    read_texts,
)

RELEASES = (1042,)
"""Rows of the known releases."""

CATEGORIES = (
    "unusual attributes or accessories",
    "unexpected behavior",
    "strange scene",
    "strange animal",
    "misplacement",
    "incorrect biological rules",
    "unusual construction",
    "strange indoor objects",
    "unusual food",
    "incorrect physics rules",
    "incorrect usage",
)
"""What can be unusual in an image: 11 categories in the data, 15 in the paper (section 3.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptionedImage:
    """An image and people's captions of what is unusual in it."""

    entry_id: str  # id of the image, numbered if several rows share it
    image: str  # address, or file name in a built edition
    captions: tuple[str, ...]
    categories: tuple[str, ...]  # of CATEGORIES, at most two


def read_captioned_images(file: Path) -> Table[CaptionedImage]:
    """Read all rows in file order; the release has 1,042, three images in two rows each.

    As in the authors' script, each row is a separate sample with its own references. A row without
    an address or a caption is rejected.
    """
    return number_repeated(make_rows(read_records(file), _captioned_image), "entry_id")


def split_captions(cell: str) -> tuple[str, ...]:
    r"""Split a cell of captions: numbered, quoted, at line breaks or semicolons, or by sentence.

    Of the release's cells 974 are numbered ``1. "..." 2. "..."`` and 68 are not.

    >>> split_captions('1. "A cat in 2. gear." 2. "A cat drives."')
    ('A cat in 2. gear.', 'A cat drives.')
    >>> split_captions("A cat drives.\n- A cat at the wheel")
    ('A cat drives.', 'A cat at the wheel')
    """
    splitters = (
        partial(_split_numbered, first_character=r"[\"“]"),  # a number before a quote
        _split_numbered,
        _split_quoted,
        _split_lines,
        _split_sentences,
    )
    for split in splitters:
        captions = _strip_marks(split(cell))
        if len(captions) > 1:
            return captions
    return _strip_marks(_split_numbered(cell) or [cell])


def known_categories(spellings: Iterable[str]) -> tuple[str, ...]:
    """List the known categories among spellings, without duplicates.

    >>> known_categories(["Strange  scene", "strange scene", "weird"])
    ('strange scene',)
    """
    normalized = (" ".join(text.lower().replace("_", " ").split()) for text in spellings)
    return tuple(name for name in dict.fromkeys(normalized) if name in CATEGORIES)


def _captioned_image(entry: Entry, where: str) -> CaptionedImage:
    address = require_field(entry, "url", str, where).strip()
    texts = read_texts(entry, "captions", where)
    captions = split_captions(texts[0]) if len(texts) == 1 else tuple(texts)
    if not (address and captions):
        found = f"{address!r} and {texts!r:.80}"
        raise SourceError(f"{where}: expected an address and captions, found {found}")
    return CaptionedImage(
        entry_id=name_of(address),
        image=address,
        captions=captions,
        categories=known_categories(
            read_text_field(entry, name, where) for name in ("category1", "category2")
        ),
    )


_QUOTED = re.compile(r"[\"“]([^\"“”]+)[\"”]")


def _split_numbered(cell: str, first_character: str = r"\D") -> list[str]:
    """Split at "1.", "2." and so on, before which there is no text; [] if that fails.

    A number out of order belongs to its caption, whose ``first_character`` is a pattern.
    """
    parts: list[str] = []
    number, rest = 1, cell
    while match := re.search(rf"(^|[\s\"”.;,]){number}\s*[.):]\s*(?={first_character})", rest):
        parts.append(rest[: match.end(1)])
        number, rest = number + 1, rest[match.end() :]
    return [*parts[1:], rest] if parts and not parts[0].strip() else []


def _split_quoted(cell: str) -> list[str]:
    """List the quoted texts; [] if most words are outside, as in a caption that quotes a sign."""
    quoted, outside = _QUOTED.findall(cell), _QUOTED.sub(" ", cell)
    return quoted if len(outside.split()) <= len(" ".join(quoted).split()) else []


def _split_lines(cell: str) -> list[str]:
    """Split at line breaks and semicolons."""
    return re.split(r"[\r\n]+|;", cell)


def _split_sentences(cell: str) -> list[str]:
    """Split into sentences without the numbers before them: each is a caption (section 3.2)."""
    without_numbers = " ".join(_split_numbered(cell) or [cell])
    return re.split(r"(?<=[.!?])\s+(?=[A-Z])", without_numbers)


def _strip_marks(captions: Iterable[str]) -> tuple[str, ...]:
    """Remove bullets, quotation marks, commas and blanks around captions, and empty captions."""
    stripped = (" ".join(caption.split()).strip('-*•"“”, ') for caption in captions)
    return tuple(caption for caption in stripped if caption)


TASK_NAME = "journeybench/captioning"
TEXT = "Describe in one sentence what is unusual in the picture."


def to_question(entry: CaptionedImage, image: str) -> Question:
    """Ask about an entry's image, given by its SHA-256; its captions are the answers."""
    return Question(
        question_id=f"{TASK_NAME}/{entry.entry_id}",
        task=TASK_NAME,
        edition="own",
        kind="text",
        text=TEXT,
        answer=entry.captions,
        images=(image,),
        category="; ".join(entry.categories),
        labels={"image": entry.image},
    )
