"""Findings of ``bench home verify``: damaged, outdated, missing or unreadable items."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Literal, TypeAlias

State: TypeAlias = Literal["whole", "damaged", "outdated", "missing", "unreadable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationFinding:
    """Verification result of one part of a home, or of one damaged item."""

    what: str  # "tables", "images", ..., or a file or entry
    state: State
    n: int  # files, or rows of a database
    why: str = ""
    command: str = ""  # command that restores it; "": none needed, or none known

    @property
    def is_wrong(self) -> bool:
        """Whether the item cannot be used as it is."""
        return self.state != "whole"


def whole_finding(what: str, n: int) -> Iterator[VerificationFinding]:
    """Yield a finding that ``n`` files or rows are intact; nothing for 0."""
    if n:
        yield VerificationFinding(what=what, state="whole", n=n)


def unreadable_findings(parts: Iterable[Path]) -> Iterator[VerificationFinding]:
    """Yield a finding for each file or folder that this user may not read."""
    for part in parts:
        denied: list[OSError] = []
        for folder, _, names in os.walk(part, onerror=denied.append):
            denied += filter(None, (_error(Path(folder, name)) for name in names))
        denied += filter(None, [_error(part)])
        closed = [Path(error.filename) for error in denied if isinstance(error, PermissionError)]
        for closed_path in dict.fromkeys(closed):  # a folder is walked and opened
            yield _unreadable_finding(part.name, closed_path)


def _error(file: Path) -> OSError | None:
    try:
        with file.open("rb"):
            return None
    except OSError as error:
        return error


def _unreadable_finding(label: str, place: Path) -> VerificationFinding:
    closed = _blocking_path(place)
    is_own = closed.stat().st_uid == os.geteuid()
    owner_note = "" if is_own else f"; {closed} belongs to another user"
    return VerificationFinding(
        what=label,
        state="unreadable",
        n=1,
        why=f"{place}: cannot be read: permission denied{owner_note}",
        command=f"chmod u+rX {quote(str(closed))}" if is_own else "",
    )


def _blocking_path(place: Path) -> Path:
    """The path that prevents reading: the item itself, or a parent folder."""
    for parent in (place, *place.parents):
        try:
            parent.stat()
        except PermissionError:
            continue
        return parent
    return place
