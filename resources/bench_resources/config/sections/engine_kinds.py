"""Model kinds that other packages add by an entry point.

A package declares in its ``pyproject.toml``, for models with ``kind = "acme"``::

    [project.entry-points."bench_assets.engines"]
    acme = "acme_engine:ACME"

where ``ACME`` is an ``EngineKind``. Such packages are imported only if bench.toml names a kind that
does not ship with the project. A model whose kind cannot be used on this machine is still listed,
so that a home can be shown on every machine.
"""

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from bench_assets.core.schema.errors import BenchError, did_you_mean
from bench_assets.plugins import Plugins, find_plugins, plugin_error_reporting
from bench_resources.config.sections.base import ModelSpec
from bench_resources.config.sections.models import SPECS
from bench_resources.response_cache.engine import Engine, ReadImage
from bench_resources.response_cache.rows import TokenCounts

GROUP = "bench_assets.engines"

Spec = TypeVar("Spec", bound=ModelSpec)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineContext:
    """Context of an engine, besides its section of bench.toml."""

    name: str  # of the model
    read_image: ReadImage  # SHA-256 -> the bytes of an image of a prompt
    resolve: Callable[[Path | str], Path]  # relative paths start at the folder of bench.toml
    spent: Callable[[str], TokenCounts]  # identity -> tokens of all its cached responses
    asks: bool = True  # False: no requests are sent, only cached responses are looked up


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineKind(Generic[Spec]):
    """A kind of model: its section of bench.toml, and its engine.

    An engine is behind the response cache: cached responses are reused, a killed run continues, and
    requests are counted. A ``spec`` derived from ``SamplingSection`` has the usual decoding.
    """

    spec: type[Spec]
    engine: Callable[[Spec, EngineContext], Engine]
    alone: bool = True  # has weights: stays loaded between assets, and no other engine beside it

    def __post_init__(self) -> None:
        """Require that ``spec`` is a type of sections and ``engine`` can be called."""
        if not (isinstance(self.spec, type) and issubclass(self.spec, ModelSpec)):
            raise TypeError(f"spec: expected a class derived from ModelSpec, got {self.spec!r}")
        if not callable(self.engine):
            raise TypeError(f"engine: expected a factory of Engine, got {self.engine!r}")


_WORD = re.compile(r"(?=.{1,24}$)[a-z]+(?:[_-][a-z]+)*")  # only letters: not a key

UNKNOWN_KIND = "unknown"
"""Replaces a kind that does not exist, whose name may be a secret in the wrong place."""


class UnusableSpec(ModelSpec):
    """A model whose kind cannot be used on this machine."""

    why: str

    @property
    def place(self) -> str:
        """The reason, in place of a location."""
        return f"cannot be used: {self.why}"


def read_model_section(section: object) -> ModelSpec:
    """Read a section ``[models.NAME]`` by its kind; an unusable kind keeps its reason.

    Raises:
        ValueError: If it names no kind, or an entry is invalid.
    """
    if isinstance(section, ModelSpec):
        return section
    kind = section.get("kind") if isinstance(section, Mapping) else None
    if not isinstance(kind, str):
        raise ValueError('expected a table with kind = "..."')
    if kind in SPECS:
        return SPECS[kind].model_validate(section)
    if reason := _load_kinds(tuple(sys.path)).unusable.get(kind):
        return UnusableSpec(kind=kind, why=reason)
    try:
        spec = spec_of(kind)
    except ValueError as error:
        return UnusableSpec(kind=UNKNOWN_KIND, why=f"{error}. Install its package, or correct kind")
    try:
        with plugin_error_reporting(ValueError):  # includes pydantic's ValidationError
            return spec.model_validate(section)
    except BenchError as error:  # its text may contain a secret of the section
        error_name = type(error.__cause__ or error).__name__
        return UnusableSpec(kind=kind, why=f"its section cannot be read: {error_name}")


def spec_of(kind: str) -> type[ModelSpec]:
    """Section type of a kind of model.

    Raises:
        ValueError: If there is no such kind.
    """
    return SPECS.get(kind) or installed_kind(kind).spec


def installed_kind(kind: str) -> EngineKind[Any]:
    """Find a kind that a package adds.

    Raises:
        ValueError: If there is none; lists the existing kinds, and unusable packages with reasons.
    """
    installed = _load_kinds(tuple(sys.path))
    if kind in installed.objects:
        return installed.objects[kind]
    kinds = [*SPECS, *sorted(installed.names - SPECS.keys())]
    message = "no such kind;"  # without the text, which may be a secret
    if suggestion := did_you_mean(kind, kinds):
        message = f"no kind named {kind!r}; {suggestion}"
    elif _WORD.fullmatch(kind):
        message = f"no kind named {kind!r};"
    raise ValueError("; ".join([f"{message} known: {', '.join(kinds)}", *installed.problems]))


def kind_problems(models: Mapping[str, ModelSpec]) -> list[str]:
    """Packages whose kinds are skipped, with reasons; imported only if bench.toml names a kind."""
    unknown_kinds = [
        f"[models.{name}] is left out: {spec.why}"
        for name, spec in models.items()
        if isinstance(spec, UnusableSpec) and spec.kind == UNKNOWN_KIND
    ]
    if all(spec.kind in SPECS for spec in models.values()):
        return [*find_plugins(GROUP, EngineKind, only=(), reserved_names=SPECS).problems]
    return [*_load_kinds(tuple(sys.path)).problems, *unknown_kinds]


@lru_cache(maxsize=8)
def _load_kinds(_path: tuple[str, ...]) -> Plugins[EngineKind[Any]]:
    """Load the installed kinds, once per search path; failed imports are not retried."""
    return find_plugins(GROUP, EngineKind, reserved_names=SPECS)
