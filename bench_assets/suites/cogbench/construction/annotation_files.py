"""Parses annotations in the form of Figure 6, and reads ``reviews.json``.

An annotation has the sections "[Entities]:", eight "[... Reasoning]:" and "[Description]:".
Entities are a list in brackets, "[A, B, C]", and each chain is in brackets, "[A1 + A2 -> B]"; an
empty section is "None".

A review is ``{image, field, text, accept}`` or ``{image, field, text, same_as}``, where ``text``
and ``same_as`` are items of the merged table, or as an annotator wrote them. With the field
"Description" it selects a description (``accept`` true) or excludes it.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Rejection
from bench_assets.core.tables.build import Table
from bench_assets.core.tables.json_records import Entry, make_rows, read_entries, require_field
from bench_assets.suites.cogbench.construction.selection import normalize_text
from bench_assets.suites.cogbench.dataset.reasoning import KINDS, find_kind, is_none, read_chain
from bench_assets.suites.cogbench.dataset.source import ANNOTATIONS, REVIEWS, RawAnnotation

ENTITIES, DESCRIPTION = "Entities", "Description"
FIELDS = (ENTITIES, *(kind.field for kind in KINDS), DESCRIPTION)
"""The sections of an annotation, in the order of Figure 6."""

_HEADING = re.compile(r"^[ \t]*\[([^\]\n]+)\][ \t]*:?", re.MULTILINE)
_BRACKETED = re.compile(r"\[([^\]]*)\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedItem:
    """An entity, chain or description by one annotator for one image."""

    image: str  # file name
    annotator: str
    field: str  # a section of Figure 6
    text: str


class Annotations(NamedTuple):
    """Parsed items, and format errors."""

    items: list[AnnotatedItem]
    deviations: list[Rejection]


def read_annotations(annotations: Iterable[RawAnnotation]) -> Annotations:
    """Parse annotations; an item that breaks a rule is left out, with the rule's name."""
    read = Annotations([], [])
    for annotation in annotations:
        sections: dict[str, str] = {}
        for section, body in _sections(annotation.annotation):  # some are written in two parts
            sections[section] = f"{sections[section]}\n{body}" if section in sections else body
        for section in FIELDS:
            for number, (text, complaint) in enumerate(_items(section, sections.get(section)), 1):
                if complaint:
                    read.deviations.append(_deviation(annotation, section, number, complaint, text))
                else:
                    read.items.append(
                        AnnotatedItem(
                            image=annotation.image,
                            annotator=annotation.annotator,
                            field=section,
                            text=text,
                        )
                    )
    return read


def _sections(text: str) -> Iterator[tuple[str, str]]:
    headings = [(m, field) for m in _HEADING.finditer(text) if (field := _field(m[1]))]
    ends = [*(heading.start() for heading, _ in headings), len(text)][1:]
    for (heading, field), end in zip(headings, ends, strict=True):
        yield field, text[heading.end() : end].strip()


def _field(heading: str) -> str | None:
    if kind := find_kind(heading):
        return kind.field
    word = heading.strip().capitalize()
    return word if word in (ENTITIES, DESCRIPTION) else None


def _items(field: str, body: str | None) -> Iterator[tuple[str, str]]:
    """Each item of a section with its format error, or ""."""
    if body is None:
        yield "", "the section is missing; write None if there is nothing"
    elif field == DESCRIPTION:
        text = " ".join(body.split())
        yield text, "" if not is_none(text) else "no description"
    elif is_none(body):
        return
    elif field == ENTITIES:
        yield from _entities(body)
    else:
        # Some annotators omit the brackets and write one chain per line.
        for text in _BRACKETED.findall(body) or body.splitlines():
            if not is_none(text):
                chain = read_chain(text)
                yield (text, chain) if isinstance(chain, str) else (str(chain), "")


def _entities(body: str) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for part in re.split(r"[,\n\[\]]", body):
        entity = " ".join(part.split())
        if not is_none(entity):
            yield entity, "listed twice" if entity.casefold() in seen else ""
            seen.add(entity.casefold())


def _deviation(
    annotation: RawAnnotation, field: str, number: int, complaint: str, text: str
) -> Rejection:
    where = f"{ANNOTATIONS}, {annotation.image} by {annotation.annotator}, [{field}] {number}"
    return Rejection(entry=where, reason=f"{complaint}: {text!r}" if text else complaint)


Name: TypeAlias = tuple[str, str, str]  # image, section and plain text of an item


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A reviewer's decision on an annotated item."""

    image: str
    field: str  # "Entities", "Description" or a kind of reasoning
    text: str
    accept: bool | None  # None if the review only merges the item
    same_as: str = ""  # text of the item to merge it with


def read_reviews(folder: Path) -> Table[Review]:
    """Read ``reviews.json`` of a source; none without the file.

    Raises:
        SourceError: If the file is not a JSON list.
    """
    file = folder / REVIEWS
    return make_rows(read_entries(file) if file.is_file() else (), _review)


def merged_pairs(reviews: Iterable[Review]) -> frozenset[frozenset[Name]]:
    """Pairs of items that reviews merge."""
    return frozenset(
        frozenset(_name(review, text) for text in (review.text, review.same_as))
        for review in reviews
        if review.same_as
    )


def decisions(reviews: Iterable[Review]) -> dict[Name, bool]:
    """Accepted and rejected items, without those that reviews both accept and reject."""
    found: dict[Name, set[bool]] = {}
    for review in reviews:
        if review.accept is not None:
            found.setdefault(_name(review, review.text), set()).add(review.accept)
    return {name: values.pop() for name, values in found.items() if len(values) == 1}


def ineffective_reviews(
    reviews: Iterable[Review], items: Iterable[AnnotatedItem]
) -> list[Rejection]:
    """Reviews without effect: of texts that no annotator wrote, or contradicted by another one."""
    annotated, decided = {review_key(item) for item in items}, decisions(reviews := list(reviews))
    unknown = {
        (_name(review, text), f"no annotator gave {text!r}: the review has no effect"): None
        for review in reviews
        for text in filter(None, (review.text, review.same_as))
        if _name(review, text) not in annotated
    }
    contradicted = {
        (
            _name(review, review.text),
            f"{review.text!r} is accepted and rejected: the item waits",
        ): None
        for review in reviews
        if review.accept is not None and _name(review, review.text) not in decided
    }
    return [
        Rejection(entry=f"{REVIEWS}, {image}, [{field}]", reason=reason)
        for (image, field, _), reason in (unknown | contradicted)
    ]


def _name(review: Review, text: str) -> Name:
    return review.image, review.field, normalize_text(text)


def review_key(item: AnnotatedItem) -> Name:
    """The key of an item in reviews."""
    return item.image, item.field, normalize_text(item.text)


def _review(entry: Entry, where: str) -> Review:
    accept = require_field(entry, "accept", bool, where) if "accept" in entry else None
    same_as = require_field({"same_as": "", **entry}, "same_as", str, where)
    if accept is None and not same_as:
        raise SourceError(f"{where}: expected accept (true or false) or same_as (the other text)")
    return Review(
        image=require_field(entry, "image", str, where),
        field=require_field(entry, "field", str, where),
        text=require_field(entry, "text", str, where),
        accept=accept,
        same_as=same_as,
    )
