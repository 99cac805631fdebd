"""MULTI-Extend: which knowledge piece belongs to which question (section 3.4)."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from bench_assets.core.schema.rows import Rejection
from bench_assets.suites.multi.dataset.source import Knowledge, MultiItem

ATTACHED, NAMED, UNCOVERED = "attached", "named in the text", "uncovered"
WRITTEN = "written by a person"
"""How a piece came to its question."""

_SHORTEST_NAME = 2  # characters; a shorter one is found everywhere


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeLink:
    """The knowledge piece of one item, if it has one."""

    item_id: str
    knowledge: str  # its name; "" if there is none
    how: str  # ATTACHED, NAMED, UNCOVERED or WRITTEN


class UsablePieces(NamedTuple):
    """Knowledge that can be shown, and why the rest cannot."""

    usable: dict[str, Knowledge]
    rejections: list[Rejection]


def usable(pieces: Mapping[str, Knowledge], images: Container[str]) -> UsablePieces:
    """Take the pieces that have a text and whose images are there.

    Args:
        pieces: By name.
        images: Names of the images that decode.
    """
    checked = UsablePieces({}, [])
    for name, piece in pieces.items():
        missing = [image for image in piece.images if image not in images]
        fault = f"images are missing: {', '.join(missing)}" if missing else ""
        fault = fault or ("" if piece.content.strip() else "the text is empty")
        if fault:
            checked.rejections.append(Rejection(entry=f"knowledge {name}", reason=fault))
        else:
            checked.usable[name] = piece
    return checked


def link(
    items: Iterable[MultiItem], pieces: Mapping[str, Knowledge], *, search: bool
) -> list[KnowledgeLink]:
    """Link every item to the first piece attached to it, or to one its text names.

    The paper has people look for uncovered questions' pieces with language models and search
    engines; here the longest name that stands in the text or the analysis is taken.

    Args:
        items: Of either route.
        pieces: By name.
        search: Look at texts too; the release's own links are left as they are.
    """
    by_length = sorted((n for n in pieces if len(n) >= _SHORTEST_NAME), key=lambda n: (-len(n), n))
    links = []
    for item in items:
        attached = item.knowledge[0] if item.knowledge and item.knowledge[0] in pieces else ""
        text = f"{item.text}\n{item.analysis}" if search else ""
        named = next((name for name in by_length if name in text), "")
        how = ATTACHED if attached else NAMED if named else UNCOVERED
        links.append(KnowledgeLink(item_id=item.item_id, knowledge=attached or named, how=how))
    return links
