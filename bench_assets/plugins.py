"""Finds what other packages add to this one: objects that their entry points name.

Two groups are looked for: ``bench_assets.suites`` (each a ``Suite``, read by ``catalog``) and
``bench_assets.engines`` (read by ``resources.models``). What ships with the project is found in the
same way. A package says in its ``pyproject.toml``::

    [project.entry-points."bench_assets.suites"]
    fridge = "fridge_bench.suite:SUITE"
"""

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from pathlib import Path
from typing import Generic, TypeVar

from bench_assets.core.errors import SettingsError

_OWN = "bench-assets"

Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugins(Generic[Kind]):
    """What was found in one group."""

    found: Mapping[str, Kind]  # by the name of the entry point: ours first, then by distribution
    origins: Mapping[str, str]  # the distribution and the entry point of each, for messages
    code: Mapping[str, Path]  # the package or single file that each is written in
    problems: Sequence[str]  # one line for each that is left out, and why
    names: frozenset[str]  # of all entry points, those that were not to be loaded as well


def find_plugins(
    group: str, kind: type[Kind], only: Collection[str] | None = None
) -> Plugins[Kind]:
    """Load the objects of a group; what cannot be loaded is told of, and stops no other.

    A name that is taken twice belongs to this project or, between strangers, to the distribution
    that comes first in the alphabet.

    Args:
        group: The group.
        kind: What the objects are.
        only: Names to load; None: all.
    """
    found: dict[str, Kind] = {}
    origins: dict[str, str] = {}
    code: dict[str, Path] = {}
    problems: list[str] = []
    entries = _entries(group, tuple(sys.path))
    for entry in sorted(entries, key=_place):
        if only is not None and entry.name not in only:
            continue
        try:
            if other := origins.get(entry.name):
                raise SettingsError(f"the name is taken by {other}; uninstall one of the two")
            found[entry.name] = _loaded(entry, kind)
            origins[entry.name] = _origin(entry)
            code[entry.name] = _written_in(entry)
        except SettingsError as why:
            problems.append(f"{_origin(entry)}, is left out: {why}")
    names = frozenset(entries.names)
    return Plugins(found=found, origins=origins, code=code, problems=problems, names=names)


@lru_cache(maxsize=8)
def _entries(group: str, path: tuple[str, ...]) -> EntryPoints:
    """A group on a search path; to look through every distribution there takes a while."""
    return entry_points(group=group)


def _place(entry: EntryPoint) -> tuple[bool, str, str]:
    name = entry.dist.name if entry.dist else ""
    return name != _OWN, name, entry.name


def _origin(entry: EntryPoint) -> str:
    whose = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "no distribution"
    return f"{whose}, entry point {entry.name} = {entry.value!r} of {entry.group}"


def _loaded(entry: EntryPoint, kind: type[Kind]) -> Kind:
    try:
        loaded = entry.load()
    except (Exception, SystemExit) as why:  # a stranger's module: it may raise whatever it likes
        raise SettingsError(f"it cannot be imported: {type(why).__name__}: {why}") from why
    if not isinstance(loaded, kind):
        raise SettingsError(f"it is of type {type(loaded).__name__}, expected {kind.__name__}")
    return loaded


def _written_in(entry: EntryPoint) -> Path:
    """The innermost package of the module; of one that lies in no package, its file."""
    module = sys.modules[entry.module]
    file = Path(str(module.__file__))
    return file.parent if "." in entry.module or hasattr(module, "__path__") else file
