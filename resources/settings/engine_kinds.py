"""The kinds of models that other packages add to those of ``model_specs``.

A package says in its ``pyproject.toml``, for models with ``kind = "acme"``::

    [project.entry-points."bench_assets.engines"]
    acme = "acme_engine:ACME"

where ``ACME`` is an ``EngineKind``. Others' packages are imported when bench.toml names a kind that
does not ship with the project.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from bench_assets.core.nearest import did_you_mean
from bench_assets.plugins import find_plugins
from resources.replies.earlier import Tokens
from resources.replies.engine import Engine, ReadImage
from resources.settings.model_specs import SPECS
from resources.settings.sections import ModelSpec

if TYPE_CHECKING:
    from resources.database.postgres import Database

GROUP = "bench_assets.engines"

Spec = TypeVar("Spec", bound=ModelSpec)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What an engine may need beside its section of bench.toml."""

    name: str  # of the model
    read_image: ReadImage  # SHA-256 -> the bytes of a picture of a prompt
    resolve: Callable[[Path | str], Path]  # relative paths start at the folder of bench.toml
    spent: Callable[[str], Tokens]  # identity -> tokens of all replies that are remembered of it
    database: "Callable[[], Database] | None" = None  # the one that homes share, if they do


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineKind(Generic[Spec]):
    """A kind of model: what bench.toml says of it, and what runs it.

    An engine stands behind the reply store: what was asked before is not asked again, a killed run
    goes on where it was, and what was asked is counted. A ``spec`` that is ``Priced`` has a budget
    too, one that is ``Asked`` the usual decoding.
    """

    spec: type[Spec]
    engine: Callable[[Spec, Surroundings], Engine]
    alone: bool = True  # has weights: it is kept from one asset to the next, and no other beside it


def read_model(section: object) -> ModelSpec:
    """Read a section ``[models.NAME]`` as its kind says.

    Raises:
        ValueError: If there is no such kind, or an entry is not what it should be.
    """
    if isinstance(section, ModelSpec):
        return section
    kind = section.get("kind") if isinstance(section, Mapping) else None
    if not isinstance(kind, str):
        raise ValueError('expected a table with kind = "..."')
    return spec_of(kind).model_validate(section)


def spec_of(kind: str) -> type[ModelSpec]:
    """What a kind of model may say.

    Raises:
        ValueError: If there is no such kind.
    """
    return SPECS.get(kind) or installed_kind(kind).spec


@cache
def installed_kind(kind: str) -> EngineKind[Any]:
    """Find a kind that a package adds.

    Raises:
        ValueError: If there is none; lists those that exist, and what could not be used and why.
    """
    installed = find_plugins(GROUP, EngineKind)
    if kind in installed.found:
        return installed.found[kind]
    known = dict.fromkeys([*SPECS, *installed.found])
    meant = did_you_mean(kind, known)  # else it is not told: it may be anything
    named = f"no kind named {kind!r}; {meant}" if meant else "no such kind;"
    raise ValueError("; ".join([f"{named} known: {', '.join(known)}", *installed.problems]))
