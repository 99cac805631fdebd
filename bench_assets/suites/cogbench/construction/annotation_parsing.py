"""Takes apart what annotators wrote in the form of Figure 6, and names every deviation from it.

A text has the sections "[Entities]:", eight "[... Reasoning]:" and "[Description]:". Entities stand
in brackets, "[A, B, C]"; so does each chain, "[A1 + A2 -> B]"; what is absent is "None".
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from bench_assets.core.schema.rows import Rejection
from bench_assets.suites.cogbench.dataset.reasoning_chains import is_none, read_chain
from bench_assets.suites.cogbench.dataset.reasoning_kinds import KINDS, find_kind
from bench_assets.suites.cogbench.dataset.source import ANNOTATIONS, RawAnnotation

ENTITIES, DESCRIPTION = "Entities", "Description"
FIELDS = (ENTITIES, *(kind.field for kind in KINDS), DESCRIPTION)
"""The sections of an annotation, in the order of Figure 6."""

_HEADING = re.compile(r"^[ \t]*\[([^\]\n]+)\][ \t]*:?", re.MULTILINE)
_BRACKETED = re.compile(r"\[([^\]]*)\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedItem:
    """One entity, chain or description that one annotator gave of one image."""

    image: str  # file name
    annotator: str
    field: str  # a section of Figure 6
    text: str


class Annotations(NamedTuple):
    """What could be read, and what could not."""

    items: list[AnnotatedItem]
    deviations: list[Rejection]


def read_annotations(annotations: Iterable[RawAnnotation]) -> Annotations:
    """Take annotations apart; an item that breaks a rule is left out, and the rule named."""
    read = Annotations([], [])
    for annotation in annotations:
        sections = dict(_sections(annotation.annotation))
        for field in FIELDS:
            for number, (text, complaint) in enumerate(_items(field, sections.get(field)), 1):
                if complaint:
                    read.deviations.append(_deviation(annotation, field, number, complaint, text))
                else:
                    read.items.append(
                        AnnotatedItem(
                            image=annotation.image,
                            annotator=annotation.annotator,
                            field=field,
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
    """Each item of a section with what is wrong with it, or "" if nothing is."""
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
        # Some leave the brackets out and write one chain a line.
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
