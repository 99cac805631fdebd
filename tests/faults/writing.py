"""``docs/faults.md``: every fault, and what was seen when it was last tried."""

import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path

from tests.faults.table import Fault, Outcome

DOCUMENT = Path(__file__).parents[2] / "docs" / "faults.md"
_NOT_TRIED = "not tried"
_HEAD = """# Faults

What was made to go wrong on purpose, and what was seen. This page is written by `make faults`; do
not edit it. `python -m tests.faults --only 'GROUP: NAME'` tries one again, `--seed N` with other
random numbers. A row with **found** is not as it must be.

The key in these trials is searched for afterwards in every file of the home folder, in its tables,
its databases and the log. A server that misbehaves does so towards three of six questions; then
it is healed, and the same is evaluated twice more: the number is that of a server that was always
well, nothing that was answered is asked again, all else is.
"""


def written(faults: Iterable[Fault], seen: Mapping[str, str]) -> str:
    """Write the page.

    Args:
        faults: All rows.
        seen: Title of a fault -> what was seen; one that was not tried is not in it.
    """
    parts = [_HEAD]
    for group, rows in groupby(sorted(faults, key=lambda one: one.group), lambda one: one.group):
        parts.append(
            f"\n## {group}\n\n| fault | how it is made | must | seen |\n|---|---|---|---|\n"
        )
        for one in rows:
            cells = [one.name, one.made, one.must, seen.get(one.title, _NOT_TRIED)]
            parts.append(f"| {' | '.join(map(_cell, cells))} |\n")
    return "".join(parts)


def shown(outcome: Outcome) -> str:
    """What the page says of one trial."""
    if outcome.skipped:
        return f"skipped: {outcome.skipped}"
    return f"**found**: {outcome.found}" if outcome.found else outcome.seen


def earlier(file: Path = DOCUMENT) -> dict[str, str]:
    """What an earlier page says, so that a part that is tried again leaves the rest as it is."""
    seen: dict[str, str] = {}
    group = ""
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        if line.startswith("## "):
            group = line.removeprefix("## ")
        elif group and line.startswith("| ") and not line.startswith("| fault |"):
            name, _, _, what = re.split(r"(?<!\\) \| ", line.strip("| ") + " ")[:4]
            seen[f"{group}: {_uncelled(name)}"] = _uncelled(what.strip())
    return seen


def _cell(text: str) -> str:
    whole = text.encode("utf-8", "backslashreplace").decode()
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in whole)
    return re.sub(r"([|<>\[\]])", r"\\\1", " ".join(shown.split()))


def _uncelled(text: str) -> str:
    return re.sub(r"\\([|<>\[\]])", r"\1", text)
