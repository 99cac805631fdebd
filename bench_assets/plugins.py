"""Plugins: suites, extensions and engines from entry points of other packages.

There are three groups: ``bench_assets.suites`` (each a ``Suite``, read by ``catalog``),
``bench_assets.extensions`` and ``bench_assets.engines`` (read by ``bench_resources.models``). The
project's own suites and engines are found in the same way. A package declares in its
``pyproject.toml``::

    [project.entry-points."bench_assets.suites"]
    fridge = "fridge_bench.suite:SUITE"
"""

import sys
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from pathlib import Path
from typing import Generic, TypeVar

from bench_assets.core.schema.errors import BenchError, SettingsError

SUITES = "bench_assets.suites"
"""The group of suites."""

EXTENSIONS = "bench_assets.extensions"
"""The group of extensions of suites."""

_OWN = "bench-assets"

Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugins(Generic[Kind]):
    """The plugins of one group."""

    found: Mapping[str, Kind]  # by entry point name; this project's first, then by distribution
    origins: Mapping[str, str]  # distribution and entry point of each, for messages
    code: Mapping[str, Path]  # package or single file that defines each
    problems: Sequence[str]  # one line per plugin left out, with the reason
    unusable: Mapping[str, str]  # reason by name, for names of which nothing loaded
    names: frozenset[str]  # of all entry points, loaded or not


def find_plugins(
    group: str,
    kind: type[Kind],
    only: Collection[str] | None = None,
    taken: Collection[str] = (),
) -> Plugins[Kind]:
    """Load the objects of a group; a failure is reported and does not stop the others.

    A duplicate name goes to this project, or else to the first package in alphabetical order.

    Args:
        group: The group.
        kind: Type of the objects.
        only: Names to load; None: all.
        taken: Names that this project uses without an entry point; conflicts are always reported.
    """
    plugins_by_name: dict[str, Kind] = {}
    origins: dict[str, str] = {}
    code: dict[str, Path] = {}
    problems: list[str] = []
    unusable: dict[str, str] = {}
    entries = _entries(group, tuple(sys.path))
    for entry in sorted(entries, key=_place):
        if only is not None and entry.name not in {*only, *taken}:
            continue
        try:
            if entry.name in taken:
                raise SettingsError(f"the name is taken by {_OWN}; choose another")
            if origin := origins.get(entry.name):
                raise SettingsError(f"the name is taken by {origin}; uninstall one of the two")
            plugins_by_name[entry.name], code[entry.name] = _load(entry, kind)
            origins[entry.name] = _origin(entry)
        except SettingsError as error:
            problems.append(f"{_origin(entry)}, is left out: {error}")
            unusable.setdefault(entry.name, f"{error} ({_origin(entry)})")
    return Plugins(
        found=plugins_by_name,
        origins=origins,
        code=code,
        problems=problems,
        unusable={
            name: reason
            for name, reason in unusable.items()
            if name not in {*plugins_by_name, *taken}
        },
        names=frozenset(entries.names),
    )


def find_owners(group: str) -> dict[str, str]:
    """Find the distribution and entry point of each name in a group, without importing."""
    return dict(_owners(group, tuple(sys.path)))


@contextmanager
def plugin_error_reporting(*ours: type[Exception]) -> Generator[None]:
    """Convert an unexpected exception of another package's object into an error for users.

    Args:
        *ours: Further exception types to pass through, beside this project's errors.

    Raises:
        SettingsError: For any other exception; its type and text in one line.
    """
    try:
        yield
    except (Exception, SystemExit) as error:
        if isinstance(error, (BenchError, *ours)):
            raise
        message = " ".join(f"{type(error).__name__}: {error}".split())
        raise SettingsError(message) from error


@lru_cache(maxsize=8)
def _entries(group: str, path: tuple[str, ...]) -> EntryPoints:
    """Entry points of a group on a search path; cached, because scanning distributions is slow."""
    return entry_points(group=group)


@lru_cache(maxsize=8)
def _owners(group: str, path: tuple[str, ...]) -> Mapping[str, str]:
    """Cached too: the name of a distribution is read from its whole METADATA file."""
    entries = sorted(_entries(group, path), key=_place, reverse=True)
    return {entry.name: _origin(entry) for entry in entries}


def _place(entry: EntryPoint) -> tuple[bool, str, str]:
    name = str(entry.dist.name) if entry.dist else ""  # None if the distribution is half removed
    return name != _OWN, name, entry.name


def _origin(entry: EntryPoint) -> str:
    distribution = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "no distribution"
    return f"{distribution}, entry point {entry.name} = {entry.value!r} of {entry.group}"


def _load(entry: EntryPoint, kind: type[Kind]) -> tuple[Kind, Path]:
    """Load an object, with the package or file that defines it."""
    try:
        with plugin_error_reporting():
            loaded, code = entry.load(), _defining_package(entry)
    except BenchError as error:
        raise SettingsError(f"it cannot be imported: {error}") from error
    if not isinstance(loaded, kind):
        raise SettingsError(f"it is of type {type(loaded).__name__}, expected {kind.__name__}")
    return loaded, code


def _defining_package(entry: EntryPoint) -> Path:
    """The innermost package of a module, or its file if it is in no package."""
    module = sys.modules[entry.module]
    file = Path(str(module.__file__))
    return file.parent if "." in entry.module or hasattr(module, "__path__") else file
