"""The report of ``make faults``: every fault, and what was seen when it was last tried."""

import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from tempfile import gettempdir
from typing import NamedTuple

from tests.faults.table import Fault, Outcome

CHECKOUT = Path(__file__).parents[2]
DOCUMENT = Path(os.environ.get("FAULTS_REPORT") or Path(gettempdir(), "bench-faults.md"))
_NOT_TRIED = "not tried"
_HEAD = """# Faults

Injected faults and what was observed, written by `make faults`. `python -m tests.faults --only
'GROUP: NAME'` tries one again, `--seed N` with other random numbers. A row with **found** is not
as it must be.

The key in these trials is searched for afterwards in every file of the home folder, in its tables,
its databases and the log. A server that misbehaves does so towards three of six questions; then
it is healed, and the same is evaluated twice more: the number is that of a server that was always
well, nothing that was answered is asked again, all else is. The last column is the day of the
trial and the commit that was tried.
"""
_COLUMNS = "| fault | how it is made | must | seen | tried |\n|---|---|---|---|---|\n"


class Seen(NamedTuple):
    """What the page says of a fault that was tried."""

    what: str
    when: str = ""  # day and commit


def written(faults: Iterable[Fault], seen: Mapping[str, Seen]) -> str:
    """Write the page.

    Args:
        faults: All rows.
        seen: Title of a fault -> what was seen; one that was not tried is not in it.
    """
    parts = [_HEAD]
    for group, rows in groupby(sorted(faults, key=lambda one: one.group), lambda one: one.group):
        parts.append(f"\n## {group}\n\n{_COLUMNS}")
        for one in rows:
            cells = [one.name, one.made, one.must, *seen.get(one.title, Seen(_NOT_TRIED))]
            parts.append(f"| {' | '.join(map(_cell, cells))} |\n")
    return "".join(parts)


def shown(outcome: Outcome) -> str:
    """What the page says of one trial."""
    if outcome.skipped:
        return f"skipped: {outcome.skipped}"
    return f"**found**: {outcome.found}" if outcome.found else outcome.seen


def now() -> str:
    """The day (UTC) and the commit of this checkout; "changed" if files are not as committed."""
    commit = _git("rev-parse", "--short=9", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no")
    return f"{datetime.now(UTC):%Y-%m-%d} {commit}{', changed' if changed else ''}".strip()


def _git(*words: str) -> str:
    process = subprocess.run(
        ["git", *words], cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    return process.stdout.strip()


def earlier(file: Path = DOCUMENT) -> dict[str, Seen]:
    """What an earlier page says, so that a part that is tried again leaves the rest as it is.

    Returns:
        Title of a fault -> what was seen; one that was not tried is not in it.
    """
    return {title: seen for title, seen in _rows(file) if seen.what != _NOT_TRIED}


def titles(file: Path = DOCUMENT) -> set[str]:
    """All faults that a page names, tried or not."""
    return {title for title, _ in _rows(file)}


def _rows(file: Path) -> Iterable[tuple[str, Seen]]:
    group = ""
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        if line.startswith("## "):
            group = line.removeprefix("## ")
        elif group and line.startswith("| ") and not line.startswith("| fault |"):
            cells = [_uncelled(cell.strip()) for cell in re.split(r"(?<!\\) \|(?: |$)", line[2:])]
            name, what, when = cells[0], cells[3], cells[4] if len(cells) > 5 else ""
            yield f"{group}: {name}", Seen(what, when)


def _cell(text: str) -> str:
    whole = text.encode("utf-8", "backslashreplace").decode()
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in whole)
    return re.sub(r"([|<>\[\]])", r"\\\1", " ".join(shown.split()))


def _uncelled(text: str) -> str:
    return re.sub(r"\\([|<>\[\]])", r"\1", text)
