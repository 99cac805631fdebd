"""What single persons said of single things: one row, whatever the form was that they filled in."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """What one person says of one thing by one criterion."""

    person: str  # a pseudonym
    item: str
    criterion: str
    value: str  # "yes", "3", "kept": compared as it is
    seconds: float | None = None  # s that it took; None where nobody measured
    at: str = ""  # ISO 8601; "" where nobody noted it


def votes_in(
    rows: Iterable[Any], *, person: str, item: Sequence[str], criteria: Sequence[str]
) -> list[Vote]:
    """Read the votes out of a table that has a column for each criterion.

    Seconds and time are those of columns of these names, where there are such.

    Args:
        rows: One of each person on each thing.
        person: The field that names who voted.
        item: The fields that together name what was voted on.
        criteria: The fields that hold what was said.
    """
    return [
        Vote(
            person=getattr(row, person),
            item=" / ".join(str(getattr(row, name)) for name in item),
            criterion=criterion,
            value=_said(getattr(row, criterion)),
            seconds=getattr(row, "seconds", None),
            at=getattr(row, "at", ""),
        )
        for row in rows
        for criterion in criteria
    ]


def _said(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
