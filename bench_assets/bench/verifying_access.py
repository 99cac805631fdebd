"""The part of ``bench verify`` that tells what may not be read from what is damaged."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from shlex import quote

from bench_assets.bench.findings import Finding


def refused(file: Path) -> bool:
    """Whether the system does not let us read a file or folder that may be whole."""
    try:
        with file.open("rb"):
            return False
    except PermissionError:
        return True
    except OSError:
        return False


def unreadable(what: str, place: Path) -> Finding:
    """Say of something that it may not be read; only its owner can change that."""
    closed = _closed(place)
    mine = closed.stat().st_uid == os.geteuid()
    whose = "" if mine else f"; {closed} is another user's"
    return Finding(
        what=what,
        state="unreadable",
        n=1,
        why=f"{place}: may not be read: Permission denied{whose}",
        command=f"chmod u+rX {quote(str(closed))}" if mine else "",
    )


def closed_folders(parts: Iterable[Path]) -> Iterator[Finding]:
    """Name the folders below that may not be looked into, so that what is in them is not seen."""
    for part in parts:
        closed: list[OSError] = []
        for _ in os.walk(part, onerror=closed.append):
            pass
        for why in closed:
            if isinstance(why, PermissionError):
                yield unreadable(part.name, Path(why.filename))


def _closed(place: Path) -> Path:
    """What keeps it from being read: itself, or a folder above that may not be entered."""
    for one in (place, *place.parents):
        try:
            one.stat()
        except PermissionError:
            continue
        return one
    return place
