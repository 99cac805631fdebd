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
    n: int = 1  # files, or rows of a database
    why: str = ""
    command: str = ""  # command that restores it; "": none needed, or none known

    @property
    def is_wrong(self) -> bool:
        """Whether the item cannot be used as it is."""
        return self.state != "whole"


def whole_finding(label: str, n: int) -> Iterator[VerificationFinding]:
    """Yield a finding that ``n`` files or rows are intact; nothing for 0."""
    if n:
        yield VerificationFinding(what=label, state="whole", n=n)


def unreadable_findings(paths: Iterable[Path]) -> Iterator[VerificationFinding]:
    """Yield a finding for each file or folder that this user may not read."""
    for path in paths:
        errors: list[OSError] = []
        for folder, _, names in os.walk(path, onerror=errors.append):
            errors += filter(None, (_open_error(Path(folder, name)) for name in names))
        errors += filter(None, [_open_error(path)])
        denied = [Path(error.filename) for error in errors if isinstance(error, PermissionError)]
        for denied_path in dict.fromkeys(denied):  # a folder is both walked and opened
            yield _unreadable_finding(path.name, denied_path)


def _open_error(file: Path) -> OSError | None:
    """The error of opening a file; None if it can be read."""
    try:
        with file.open("rb"):
            return None
    except OSError as error:
        return error


def _unreadable_finding(label: str, path: Path) -> VerificationFinding:
    blocking = _blocking_path(path)
    is_own = blocking.stat().st_uid == os.geteuid()
    owner_note = "" if is_own else f"; {blocking} belongs to another user"
    return VerificationFinding(
        what=label,
        state="unreadable",
        why=f"{path}: cannot be read: permission denied{owner_note}",
        command=f"chmod u+rX {quote(str(blocking))}" if is_own else "",
    )


def _blocking_path(path: Path) -> Path:
    """The path that prevents reading: the path itself, or a parent folder."""
    for candidate in (path, *path.parents):
        try:
            candidate.stat()
        except PermissionError:
            continue
        return candidate
    return path
