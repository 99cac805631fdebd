"""Which entries become questions, and the reason for each that does not."""

import re
from collections.abc import Collection, Sequence
from hashlib import sha256
from typing import NamedTuple

from bench_assets.core.schema.rows import Edition, Rejection
from hallusion_bench.source import Asked

_PUBLISHED = "8b2966dde9876bdf91e2d342790f41313c280d681749fd193202fd945dafe4db"
"""SHA-256 of the 1,129 ids of section 3.3, sorted, one a line."""


class Selection(NamedTuple):
    """The entries that become questions, and everything that does not."""

    asked: list[Asked]
    rejections: list[Rejection]


def select(asked: Sequence[Asked], images: Collection[str]) -> Selection:
    """Take the entries that can be asked, in order.

    Args:
        asked: All entries.
        images: Paths of the figures that are there and decode.
    """
    seen: set[str] = set()
    faults: list[tuple[Asked, list[str]]] = []
    for one in asked:
        faults.append((one, _faults(one, images, seen)))
        seen.add(one.name)
    originals = {one.pair for one, why in faults if one.figure_id == "0" and not why}
    faults = [(one, why or _alone(one, originals)) for one, why in faults]
    return Selection(
        [one for one, why in faults if not why],
        [
            Rejection(entry=f"HallusionBench.json, {one.name}", reason=reason)
            for one, why in faults
            for reason in why
        ],
    )


def edition_of(asked: Sequence[Asked]) -> Edition:
    """Name the edition that entries make: only the whole release is called published."""
    names = "\n".join(sorted(one.name for one in asked))
    return "published" if sha256(names.encode()).hexdigest() == _PUBLISHED else "own"


def _faults(one: Asked, images: Collection[str], seen: Collection[str]) -> list[str]:
    blind = one.visual_input == "0"
    faults = {
        "a part of its id is empty or holds blanks or slashes": (
            re.fullmatch(r"[^\s/]+(?:/[^\s/]+){4}", one.name) is None
        ),
        "an earlier entry has the same id": one.name in seen,
        f"category is {one.category!r}, expected VD or VS": one.category not in ("VD", "VS"),
        f"visual_input is {one.visual_input!r}, expected 0, 1 or 2": (
            one.visual_input not in ("0", "1", "2")
        ),
        f"gt_answer is {one.answer!r}, expected 0 (no) or 1 (yes)": one.answer not in ("0", "1"),
        "the question is empty": not one.question.strip(),
        "gt_answer_details is empty": not one.reference.strip(),
        "only VS questions about figure 0, and all of them, are asked without a figure": (
            blind != (one.category == "VS" and one.figure_id == "0")
        ),
        "visual_input is 0, but filename names a figure": blind and bool(one.image),
        "filename names no figure": not blind and not one.image,
        f"figure {one.image} is missing or does not decode": (
            bool(one.image) and one.image not in images
        ),
    }
    return [fault for fault, holds in faults.items() if holds]


def _alone(one: Asked, originals: Collection[str]) -> list[str]:
    if one.pair in originals:
        return []
    return ["the same is not asked about figure 0, which its answer is compared with"]
