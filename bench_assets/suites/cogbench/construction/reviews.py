"""What people decided about what annotators wrote: ``reviews.json`` beside the annotations.

An entry is ``{image, field, text, accept}`` or ``{image, field, text, same_as}``, where ``text``
and ``same_as`` are items as the table of merged items has them, or as any annotator wrote them.
With the field "Description" a person takes a description (``accept`` true), also where no two are
alike, or puts it aside (see ``understanding``).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Rejection
from bench_assets.core.tables.json_records import Entry, field, read_entries
from bench_assets.suites.cogbench.construction.annotation_parsing import AnnotatedItem
from bench_assets.suites.cogbench.construction.selection import plain
from bench_assets.suites.cogbench.dataset.source import REVIEWS

Name: TypeAlias = tuple[str, str, str]  # image, section and plain text of an item


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What a person decided about something that an annotator had noted."""

    image: str
    field: str  # "Entities", "Description" or a kind of reasoning
    text: str
    accept: bool | None  # None if it is only said to be the same as another
    same_as: str = ""  # the other one's text


def read_reviews(folder: Path) -> list[Review]:
    """Read what people decided about single votes; nothing without the file.

    Raises:
        SourceError: If an entry is not of the form above; names file and entry.
    """
    file = folder / REVIEWS
    if not file.is_file():
        return []
    return [_review(*found) for found in read_entries(file)]


def said_to_be_one(reviews: Iterable[Review]) -> frozenset[frozenset[Name]]:
    """Pairs of items that people said are one."""
    return frozenset(
        frozenset((one.image, one.field, plain(text)) for text in (one.text, one.same_as))
        for one in reviews
        if one.same_as
    )


def decisions(reviews: Iterable[Review]) -> dict[Name, bool]:
    """What people accepted and rejected.

    Raises:
        SourceError: If a review accepts what another one rejects.
    """
    found: dict[Name, bool] = {}
    for review in reviews:
        if review.accept is None:
            continue
        place = review.image, review.field, plain(review.text)
        if found.setdefault(place, review.accept) != review.accept:
            raise SourceError(
                f"{REVIEWS}: {review.text!r} of {review.image} is accepted and rejected; keep one"
            )
    return found


def idle(reviews: Iterable[Review], items: Iterable[AnnotatedItem]) -> list[Rejection]:
    """Name the reviews that decide nothing, because no annotator wrote their text."""
    given = {name_of(item) for item in items}
    return [
        Rejection(
            entry=f"{REVIEWS}, {review.image}, [{review.field}]",
            reason=f"no annotator gave {text!r}: the review decides nothing",
        )
        for review in reviews
        for text in (review.text, *([review.same_as] if review.same_as else []))
        if (review.image, review.field, plain(text)) not in given
    ]


def name_of(item: AnnotatedItem) -> Name:
    """What a review calls an item."""
    return item.image, item.field, plain(item.text)


def _review(entry: Entry, where: str) -> Review:
    accept = field(entry, "accept", bool, where) if "accept" in entry else None
    same_as = field({"same_as": "", **entry}, "same_as", str, where)
    if accept is None and not same_as:
        raise SourceError(f"{where}: say accept (true or false) or same_as (the other one's text)")
    return Review(
        image=field(entry, "image", str, where),
        field=field(entry, "field", str, where),
        text=field(entry, "text", str, where),
        accept=accept,
        same_as=same_as,
    )
