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

    objects: Mapping[str, Kind]  # by entry point name; this project's first, then by distribution
    origins: Mapping[str, str]  # distribution and entry point of each, for messages
    code: Mapping[str, Path]  # package or single file that defines each
    problems: Sequence[str]  # one line per plugin left out, with the reason
    unusable: Mapping[str, str]  # reason by name, for names of which nothing loaded
    names: frozenset[str]  # of all entry points, loaded or not


def find_plugins(
    group: str,
    kind: type[Kind],
    only: Collection[str] | None = None,
    reserved_names: Collection[str] = (),
) -> Plugins[Kind]:
    """Load the objects of a group; a failure is reported and does not stop the others.

    A duplicate name goes to this project, or else to the first package in alphabetical order.

    Args:
        group: The group.
        kind: Type of the objects.
        only: Names to load; None: all.
        reserved_names: Names that this project uses without an entry point; their conflicts are
            always reported.
    """
    objects: dict[str, Kind] = {}
    origins: dict[str, str] = {}
    code: dict[str, Path] = {}
    problems: list[str] = []
    unusable: dict[str, str] = {}
    group_entry_points = _cached_entry_points(group, tuple(sys.path))
    for entry_point in sorted(group_entry_points, key=_sort_key):
        if only is not None and entry_point.name not in {*only, *reserved_names}:
            continue
        try:
            if entry_point.name in reserved_names:
                raise SettingsError(f"the name is taken by {_OWN}; choose another")
            if origin := origins.get(entry_point.name):
                raise SettingsError(f"the name is taken by {origin}; uninstall one of the two")
            objects[entry_point.name], code[entry_point.name] = _load(entry_point, kind)
            origins[entry_point.name] = _origin(entry_point)
        except SettingsError as error:
            problems.append(f"{_origin(entry_point)}, is left out: {error}")
            unusable.setdefault(entry_point.name, f"{error} ({_origin(entry_point)})")
    return Plugins(
        objects=objects,
        origins=origins,
        code=code,
        problems=problems,
        unusable={
            name: reason
            for name, reason in unusable.items()
            if name not in {*objects, *reserved_names}
        },
        names=frozenset(group_entry_points.names),
    )


def find_owners(group: str) -> dict[str, str]:
    """Find the distribution and entry point of each name in a group, without importing."""
    return dict(_owners(group, tuple(sys.path)))


@contextmanager
def plugin_error_reporting(*passed_through: type[Exception]) -> Generator[None]:
    """Convert an unexpected exception of another package's object into an error for users.

    Args:
        *passed_through: Further exception types to pass through, beside this project's errors.

    Raises:
        SettingsError: For any other exception; its type and text in one line.
    """
    try:
        yield
    except (Exception, SystemExit) as error:
        if isinstance(error, (BenchError, *passed_through)):
            raise
        message = " ".join(f"{type(error).__name__}: {error}".split())
        raise SettingsError(message) from error


@lru_cache(maxsize=8)
def _cached_entry_points(group: str, path: tuple[str, ...]) -> EntryPoints:
    """Entry points of a group; cached by ``sys.path``, because scanning distributions is slow."""
    return entry_points(group=group)


@lru_cache(maxsize=8)
def _owners(group: str, path: tuple[str, ...]) -> Mapping[str, str]:
    """Origin of each name; cached, because it is read from the distributions' METADATA files."""
    group_entry_points = sorted(_cached_entry_points(group, path), key=_sort_key, reverse=True)
    return {entry_point.name: _origin(entry_point) for entry_point in group_entry_points}


def _sort_key(entry_point: EntryPoint) -> tuple[bool, str, str]:
    """Key that sorts this project's entry points first, then by distribution and name."""
    # There is no distribution if it is half removed.
    name = str(entry_point.dist.name) if entry_point.dist else ""
    return name != _OWN, name, entry_point.name


def _origin(entry_point: EntryPoint) -> str:
    """Distribution and definition of an entry point, for messages."""
    distribution = entry_point.dist
    name = f"{distribution.name} {distribution.version}" if distribution else "no distribution"
    definition = f"{entry_point.name} = {entry_point.value!r}"
    return f"{name}, entry point {definition} of {entry_point.group}"


def _load(entry_point: EntryPoint, kind: type[Kind]) -> tuple[Kind, Path]:
    """Load an object, with the package or file that defines it."""
    try:
        with plugin_error_reporting():
            plugin, code = entry_point.load(), _defining_package(entry_point)
    except BenchError as error:
        raise SettingsError(f"it cannot be imported: {error}") from error
    if not isinstance(plugin, kind):
        raise SettingsError(f"it is of type {type(plugin).__name__}, expected {kind.__name__}")
    return plugin, code


def _defining_package(entry_point: EntryPoint) -> Path:
    """The innermost package of a module, or its file if it is in no package."""
    module = sys.modules[entry_point.module]
    file = Path(str(module.__file__))
    return file.parent if "." in entry_point.module or hasattr(module, "__path__") else file
