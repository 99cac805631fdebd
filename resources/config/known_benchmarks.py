"""Benchmarks of others that are known by name: a section each, and where their data are fetched.

The data are never part of this project. A benchmark that a command names is copied into the home
(``benchmarks/mmmu.toml``), where its section may be edited; bench.toml counts before it.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from resources.config.toml_validation import read_toml
from resources.storage.atomic_write import open_atomic

FOLDER = "benchmarks"
"""Of a home: sections of known benchmarks that commands named."""

_PACKAGED = Path(__file__).with_name("known")


def known_benchmarks() -> tuple[str, ...]:
    """Names that are known, sorted."""
    return tuple(sorted(file.stem for file in _PACKAGED.glob("*.toml")))


def add_known(home: Path, suites: Iterable[str]) -> None:
    """Copy the sections of known benchmarks among suites and tasks into a home.

    Raises:
        HomeError: If the home cannot be written to.
    """
    known = known_benchmarks()
    for name in dict.fromkeys(suite.partition("/")[0] for suite in suites):
        file = home / FOLDER / f"{name}.toml"
        if name in known and not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            with open_atomic(file) as copy:
                copy.write((_PACKAGED / file.name).read_bytes())


def named_benchmarks(home: Path) -> dict[str, Any]:
    """Read the sections of the known benchmarks that a home has.

    Raises:
        SettingsError: If a file cannot be read.
    """
    sections: dict[str, Any] = {}
    for file in sorted((home / FOLDER).glob("*.toml")):
        found = read_toml(file).get("benchmarks", {})
        sections |= found if isinstance(found, dict) else {}
    return sections
