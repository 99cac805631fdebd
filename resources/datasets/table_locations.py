"""Where a suite's tables lie: each source has a place of its own, so that none replaces another's.

The mini edition's tables lie in ``tables`` itself, those of a named source below ``tables/.of``.
What bench.toml (or ``--source``) names is current; what was made of others stays where it is, and
the leaderboard shows it beside.
"""

import hashlib
import os
import re
from pathlib import Path

from resources.config.bench_toml import Settings
from resources.datasets.release_address import is_address
from resources.tables.locations import PLACES

_UNUSUAL = re.compile(r"[^A-Za-z0-9@.=-]+")
_READABLE = 40  # characters of a source's name that its place is called by


def places(settings: Settings) -> dict[str, str]:
    """Suite -> the place of its tables; a suite whose source is not named has none."""
    return {suite: _place(named, settings) for suite, named in settings.sources.items()}


def _place(named: str, settings: Settings) -> str:
    """Go by the path as it is written, so that a home may be moved with or without its sources.

    Where one was written otherwise before, as ``--source``, its place is kept.
    """
    if is_address(named):
        return place_of(named)
    path = settings.resolve(named).absolute()
    ways = [str(path), os.path.relpath(path, settings.home.absolute())]
    if not Path(named).expanduser().is_absolute():
        ways.reverse()
    found = [place_of(way) for way in ways]
    there = [place for place in found if (settings.home / "tables" / place).is_dir()]
    return (there or found)[0]


def place_of(source: str) -> str:
    """Name the place of a source: its own name, and a digest of the whole.

    >>> place_of("hf:BLINK-Benchmark/BLINK@6c1a")
    '.of/BLINK@6c1a-fe5584a8'
    """
    digest = hashlib.sha256(source.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    last = source.partition("#")[0].rstrip("/").rpartition("/")[2]
    name = _UNUSUAL.sub("-", last).strip("-.")[:_READABLE]
    return f"{PLACES}/{name}-{digest}"
