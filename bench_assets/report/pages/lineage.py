"""Lineage of a number: sources, rejections and the funnel.

Tables of dataset builds differ between suites. They are recognised by their columns, not by their
names, so that tables of plugins are found as well.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Columns: TypeAlias = Mapping[str, Sequence[Any]]
Tables: TypeAlias = Mapping[str, Columns]  # by name

EXAMPLES = 6
"""Examples shown per kind of reason."""

_FILES = 300  # listed files of a source
_KINDS = 40  # most kinds of reasons per table
_SOURCE, _REJECTIONS = {"path", "sha256", "n_bytes"}, {"entry", "reason"}
_FUNNELS = {  # columns of step, count and reference count -> headings of the counts
    ("step", "n", "paper"): ("Here", "In the paper"),
    ("statistic", "n", "paper"): ("Here", "In the paper"),
    ("task", "built", "wanted"): ("Built", "Wanted"),
}
_STORED = {"name", "sha256", "width", "height"}
_SHOWS = ("images", "image", "image", "image_name")
_DECISIONS = ("kept", "accepted", "selected", "picked", "outcome", "decision")
_PARTICULAR = re.compile(r"\d+(?:[.,]\d+)*|'[^']*'|\"[^\"]*\"")


@dataclass(frozen=True, slots=True)
class Group:
    """Entries that were rejected, or kept, for one kind of reason."""

    decision: str  # "kept", "not accepted", ...; "" in a table of rejections
    reason: str  # without particulars, if they differ
    n: int
    examples: list[dict[str, Any]]  # {"entry", "reason", "images": digests}


def source_files(tables: Tables) -> dict[str, Any] | None:
    """Files of the source, largest first; None without such a table."""
    for columns in tables.values():
        if set(columns) == _SOURCE:
            rows = sorted(_rows(columns), key=lambda row: (-row["n_bytes"], row["path"]))
            n_bytes = sum(row["n_bytes"] for row in rows)
            return {"n": len(rows), "n_bytes": n_bytes, "files": rows[:_FILES]}
    return None


def rejections(tables: Tables) -> list[dict[str, Any]]:
    """Rejections of each table, counted by reason, most frequent first."""
    return [
        {"table": name, "n": len(columns["reason"]), "groups": _grouped(columns, {})}
        for name, columns in tables.items()
        if set(columns) == _REJECTIONS and columns["reason"]
    ]


def funnels(tables: Tables) -> list[dict[str, Any]]:
    """Counts of each step, with the paper's count or the target."""
    found = []
    for name, columns in tables.items():
        for known, heads in _FUNNELS.items():
            if set(known) <= set(columns):
                rows = zip(*(columns[column] for column in known), strict=True)
                steps = [{"step": step, "n": n, "beside": reference} for step, n, reference in rows]
                found.append({"table": name, "heads": heads, "steps": steps})
    return found


def stages(tables: Tables) -> list[dict[str, Any]]:
    """Decisions of each stage, with images of kept and dropped items."""
    images = {
        name: digest
        for columns in tables.values()
        if set(columns) >= _STORED
        for name, digest in zip(columns["name"], columns["sha256"], strict=True)
    }
    found = []
    for name, columns in tables.items():
        decided = next((column for column in _DECISIONS if column in columns), "")
        if decided and columns[decided]:
            groups = _grouped(columns, images, decided)
            found.append({"table": name, "n": len(columns[decided]), "groups": groups})
    return found


def image_digests(lineage: Mapping[str, Any]) -> set[str]:
    """Digests of the images in the examples of stages."""
    return {
        digest
        for stage in lineage["stages"]
        for group in stage["groups"]
        for example in group.examples
        for digest in example["images"]
    }


def _grouped(columns: Columns, images: Mapping[str, str], decided: str = "") -> list[Group]:
    kinds: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in _rows(columns):
        decision = _format_value(decided, row[decided]) if decided else ""
        kinds[decision, _generalize_reason(row.get("reason") or "")].append(row)
    groups = []
    for (decision, general), rows in kinds.items():
        reasons = {row.get("reason") or "" for row in rows}
        (reason,) = reasons if len(reasons) == 1 else (general,)
        groups.append(Group(decision, reason, len(rows), list(_examples(rows, images))))
    groups.sort(key=lambda group: (group.decision, -group.n))
    return groups[:_KINDS]


def _examples(
    rows: Sequence[Mapping[str, Any]], images: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Take rows spread over the group; an image is shown only once."""
    displayed: set[str] = set()
    spread = rows[:: max(1, len(rows) // EXAMPLES)]
    for row in list(spread)[:EXAMPLES]:
        own_images = [image for image in _images(row, images) if image not in displayed]
        displayed.update(own_images)
        yield {"entry": _entry(row), "reason": row.get("reason") or "", "images": own_images[:2]}


def _entry(row: Mapping[str, Any]) -> str:
    """Readable name of a row: its first three texts, without reason and digests."""
    texts = [
        value
        for name, value in row.items()
        if isinstance(value, str) and value and name not in ("reason", "sha256", *_DECISIONS)
    ]
    return " · ".join(texts[:3])


def _images(row: Mapping[str, Any], images: Mapping[str, str]) -> list[str]:
    image_names = next((row[name] for name in _SHOWS if row.get(name)), ())
    listed = [image_names] if isinstance(image_names, str) else list(image_names)
    found = (
        image_name
        if len(image_name) == 64 and "." not in image_name
        else images.get(image_name, "")
        for image_name in listed
    )
    return [digest for digest in found if digest]


def _format_value(column: str, value: object) -> str:
    if isinstance(value, bool):
        return column if value else f"not {column}"
    return str(value)


def _generalize_reason(reason: str) -> str:
    """Generalise a reason: its first clause, with numbers and quotations replaced by "…".

    >>> (
    ...     _generalize_reason("1 of 4 others approve; not correct: bo"),
    ...     _generalize_reason("no vote for 'x.png'"),
    ... )
    ('… of … others approve', 'no vote for …')
    """
    clause = re.split(r"[;:](?:\s|$)", reason, maxsplit=1)[0]
    return _PARTICULAR.sub("…", clause)


def _rows(columns: Columns) -> Iterator[dict[str, Any]]:
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))
