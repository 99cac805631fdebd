"""Parses annotations in the form of Figure 6, and reads ``reviews.json``.

An annotation has the sections "[Entities]:", eight "[... Reasoning]:" and "[Description]:".
Entities are a list in brackets, "[A, B, C]", and each chain is in brackets, "[A1 + A2 -> B]"; an
empty section is "None".

A review is ``{image, field, text, accept}`` or ``{image, field, text, same_as}``, where ``text``
and ``same_as`` are items of the merged table, or as an annotator wrote them. With the field
"Description" it selects a description (``accept`` true) or excludes it.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

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


class ItemKey(NamedTuple):
    """The identity of an item, by which reviews find it."""

    image: str
    field: str
    text: str  # normalized


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedItem:
    """An entity, chain or description by one annotator for one image."""

    image: str  # file name
    annotator: str
    field: str  # a section of Figure 6
    text: str

    @property
    def key(self) -> ItemKey:
        """The identity of the item."""
        return _item_key(self, self.text)


class _SectionItem(NamedTuple):
    """An item as written in a section, with its format error."""

    text: str
    complaint: str  # "" if it breaks no rule


def parse_annotations(annotations: Iterable[RawAnnotation]) -> Table[AnnotatedItem]:
    """Parse annotations, section by section; an item that breaks a rule of Figure 6 is rejected."""
    table = Table[AnnotatedItem]()
    for annotation in annotations:
        sections = _sections(annotation.annotation)
        for field in FIELDS:
            _add_section(table, annotation, field, sections.get(field))
    return table


def _add_section(
    table: Table[AnnotatedItem], annotation: RawAnnotation, field: str, body: str | None
) -> None:
    """Add the items of a section to a table; ``body`` is None if the section is missing."""
    image, annotator = annotation.image, annotation.annotator
    for number, item in enumerate(_section_items(field, body), 1):
        if item.complaint:
            where = f"{ANNOTATIONS}, {image} by {annotator}, [{field}] {number}"
            reason = f"{item.complaint}: {item.text!r}" if item.text else item.complaint
            table.reject(where, reason)
        else:
            table.rows.append(
                AnnotatedItem(image=image, annotator=annotator, field=field, text=item.text)
            )


def _sections(text: str) -> dict[str, str]:
    """The body of each section; a section that is written in parts is joined."""
    headings = [match for match in _HEADING.finditer(text) if _section_name(match[1])]
    ends = [*(heading.start() for heading in headings), len(text)][1:]
    sections: dict[str, str] = {}
    for heading, end in zip(headings, ends, strict=True):
        field = _section_name(heading[1])
        body = text[heading.end() : end].strip()
        sections[field] = f"{sections[field]}\n{body}" if field in sections else body
    return sections


def _section_name(heading: str) -> str:
    """The section that a heading names; "" if it names none."""
    kind = find_kind(heading)
    if kind:
        return kind.field
    word = heading.strip().capitalize()
    return word if word in (ENTITIES, DESCRIPTION) else ""


def _section_items(field: str, body: str | None) -> Iterator[_SectionItem]:
    """Parse the items of a section; ``body`` is None if the section is missing."""
    if body is None:
        yield _SectionItem("", "the section is missing; write None if there is nothing")
    elif field == DESCRIPTION:
        text = " ".join(body.split())
        yield _SectionItem(text, "no description" if is_none(text) else "")
    elif is_none(body):
        return
    elif field == ENTITIES:
        yield from _entities(body)
    else:
        # Some annotators omit the brackets and write one chain per line.
        for text in _BRACKETED.findall(body) or body.splitlines():
            if not is_none(text):
                chain = read_chain(text)
                if isinstance(chain, str):
                    yield _SectionItem(text, chain)
                else:
                    yield _SectionItem(str(chain), "")


def _entities(body: str) -> Iterator[_SectionItem]:
    seen: set[str] = set()
    for part in re.split(r"[,\n\[\]]", body):
        entity = " ".join(part.split())
        if not is_none(entity):
            yield _SectionItem(entity, "listed twice" if entity.casefold() in seen else "")
            seen.add(entity.casefold())


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A reviewer's decision on an annotated item."""

    image: str
    field: str  # "Entities", "Description" or a kind of reasoning
    text: str
    accept: bool | None  # None if the review only merges the item
    same_as: str = ""  # text of the item to merge it with

    @property
    def key(self) -> ItemKey:
        """The identity of the reviewed item."""
        return _item_key(self, self.text)


def read_reviews(folder: Path) -> Table[Review]:
    """Read ``reviews.json`` of a source; without the file, there are no reviews.

    Raises:
        SourceError: If the file is not a JSON list.
    """
    file = folder / REVIEWS
    return make_rows(read_entries(file) if file.is_file() else (), _review)


def merged_pairs(reviews: Iterable[Review]) -> frozenset[frozenset[ItemKey]]:
    """Pairs of items that reviews merge."""
    return frozenset(
        frozenset((review.key, _item_key(review, review.same_as)))
        for review in reviews
        if review.same_as
    )


def decisions(reviews: Iterable[Review]) -> dict[ItemKey, bool]:
    """Whether each reviewed item is accepted, without those that are both accepted and rejected."""
    verdicts: dict[ItemKey, set[bool]] = defaultdict(set)
    for review in reviews:
        if review.accept is not None:
            verdicts[review.key].add(review.accept)
    return {key: values.pop() for key, values in verdicts.items() if len(values) == 1}


def ineffective_reviews(
    reviews: Sequence[Review], items: Iterable[AnnotatedItem]
) -> list[Rejection]:
    """Reject reviews of texts that no annotator wrote, and those that contradict another one."""
    annotated = {item.key for item in items}
    decided = decisions(reviews)
    unknown = [
        _reject(review, f"no annotator gave {text!r}: the review has no effect")
        for review in reviews
        for text in filter(None, (review.text, review.same_as))
        if _item_key(review, text) not in annotated
    ]
    contradicted = [
        _reject(review, f"{review.text!r} is accepted and rejected: the item waits")
        for review in reviews
        if review.accept is not None and review.key not in decided
    ]
    return list(dict.fromkeys(unknown + contradicted))


def _reject(review: Review, reason: str) -> Rejection:
    return Rejection(entry=f"{REVIEWS}, {review.image}, [{review.field}]", reason=reason)


def _item_key(item: AnnotatedItem | Review, text: str) -> ItemKey:
    """The identity of a text in the image and section of an item."""
    return ItemKey(image=item.image, field=item.field, text=normalize_text(text))


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
