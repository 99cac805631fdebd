"""Entries that nothing reads, and the name that was probably meant."""

import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from pydantic import AliasChoices, BaseModel
from pydantic.fields import FieldInfo

from bench_assets.core.text.suggestions import did_you_mean
from resources.config.secrets import without_shapes


class UnknownEntry(NamedTuple):
    """An entry, by where it stands, and what could stand there."""

    place: tuple[str, ...]
    known: tuple[str, ...]

    def __str__(self) -> str:
        """Where it stands, and what was probably meant."""
        place = without_shapes(".".join(self.place))
        return f"entry {place}: {advice(self.place[-1], self.known)}"


def advice(name: str, known: Iterable[str]) -> str:
    """Say of an unknown name which one is nearest, and which there are.

    >>> advice("reding", ["judge", "reading"])
    "unknown; did you mean 'reading'? known: judge, reading"
    """
    listed = sorted(set(known))
    meant = did_you_mean(name, listed)
    return f"unknown; {meant}{meant and ' '}known: {', '.join(listed) or 'none'}"


def unknown_entries(given: object, read: object) -> Iterator[UnknownEntry]:
    """Hold what was written against what was made of it, at any depth.

    Types that other people wrote may pass over what they do not know; here it is told.

    Args:
        given: As the file has it.
        read: What a type made of it.
    """
    if isinstance(given, Mapping) and (names := _names(read)) is not None:
        known = tuple(dict.fromkeys(alias for aliases in names.values() for alias in aliases))
        yield from (UnknownEntry((str(name),), known) for name in given if name not in known)
    for name, written, made in _pairs(given, read):
        for one in unknown_entries(written, made):
            yield UnknownEntry((name, *one.place), one.known)


def names_at(settings_type: Any, place: Sequence[str | int]) -> tuple[str, ...]:  # noqa: ANN401
    """The entries that may stand beside one that is named by its place; () where that is not known.

    Args:
        settings_type: The type at which the place starts.
        place: As pydantic says where an error is.
    """
    reached = [settings_type]
    for part in place[:-1]:
        inner = [field for one in reached for kind in _arms(one) for field in _field(kind, part)]
        reached = inner or reached  # pydantic names the arm of a union too
    models = [kind for one in reached for kind in _arms(one) if _is_model(kind)]
    return tuple(name for kind in models for name in _aliases(kind))


def _pairs(given: object, read: object) -> Iterator[tuple[str, object, object]]:
    """What lies below, as it was written and as it was read, each with its name."""
    if isinstance(given, Mapping) and isinstance(read, Mapping):
        yield from ((str(name), given[name], read[name]) for name in given if name in read)
    elif isinstance(given, Mapping):
        for field, names in (_names(read) or {}).items():
            yield from ((name, given[name], getattr(read, field)) for name in names & given.keys())
    elif isinstance(given, list | tuple) and isinstance(read, list | tuple):
        both = zip(given, read, strict=False)
        yield from ((str(n), one, other) for n, (one, other) in enumerate(both, 1))


def _names(read: object) -> dict[str, set[str]] | None:
    """Field -> what it may be called; None for what has no fields, or takes whatever comes."""
    if isinstance(read, BaseModel):
        if read.model_config.get("extra") == "allow":
            return None
        return {name: _called(name, field) for name, field in type(read).model_fields.items()}
    if is_dataclass(read):
        return {field.name: {field.name} for field in fields(read)}
    return None


def _called(name: str, field: FieldInfo) -> set[str]:
    other = field.validation_alias
    choices = other.choices if isinstance(other, AliasChoices) else [other]
    return {name, *(choice for choice in choices if isinstance(choice, str))}


def _arms(annotation: Any) -> Iterator[Any]:  # noqa: ANN401
    """The types that a value may have, without what is said about them."""
    if get_origin(annotation) is Annotated:
        yield from _arms(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, types.UnionType):
        for arm in get_args(annotation):
            yield from _arms(arm)
    else:
        yield annotation


def _field(kind: Any, part: str | int) -> Iterator[Any]:  # noqa: ANN401
    if _is_model(kind):
        for name, field in kind.model_fields.items():
            if part in (name, field.alias):
                yield field.annotation
    elif get_origin(kind) and (inner := [a for a in get_args(kind) if a is not Ellipsis]):
        yield inner[-1]  # of a list its elements, of a mapping its values


def _is_model(kind: Any) -> bool:  # noqa: ANN401
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _aliases(kind: type[BaseModel]) -> Iterator[str]:
    return (field.alias or name for name, field in kind.model_fields.items())
