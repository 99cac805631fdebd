"""Reading of TOML files, and error messages for invalid entries.

A message is one sentence with the entry and the expected value, and suggests the nearest name for
an unknown entry. It never shows the text of a value, which may be secret.
"""

import tomllib
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from bench_assets.core.schema.errors import SettingsError, did_you_mean
from bench_resources.config.sections.engine_kinds import spec_of
from bench_resources.config.sections.local_models import AutoSpec, CheckpointSpec

AnyModel = TypeVar("AnyModel", bound=BaseModel)


def suggest_entry(name: str, known: Iterable[str]) -> str:
    """Suggestion for an unknown name: the nearest name, and all known names.

    >>> suggest_entry("scorr", ["judge", "scorer"])
    "unknown; did you mean 'scorer'? known: judge, scorer"
    """
    listed = sorted(set(known))
    suggestion = did_you_mean(name, listed)
    return f"unknown; {suggestion}{suggestion and ' '}known: {', '.join(listed) or 'none'}"


def forbid_extra(settings_type: type[AnyModel]) -> type[AnyModel]:
    """The settings type with unknown entries forbidden, unless it allows them explicitly."""
    if settings_type.model_config.get("extra") == "allow":
        return settings_type
    return types.new_class(settings_type.__name__, (settings_type,), {"extra": "forbid"})


def allowed_entries(settings_type: Any, place: Sequence[str | int]) -> tuple[str, ...]:  # noqa: ANN401
    """Names of the entries allowed beside the entry at a place; () if unknown.

    Args:
        settings_type: The type at which the place starts.
        place: Location of an error, as pydantic's ``loc``.
    """
    reached = [settings_type]
    for part in place[:-1]:
        inner = [
            field
            for hint in reached
            for kind in _union_members(hint)
            for field in _field_types(kind, part)
        ]
        reached = inner or reached  # pydantic names the arm of a union too
    models = [kind for hint in reached for kind in _union_members(hint) if _is_model(kind)]
    return tuple(name for kind in models for name in _aliases(kind))


def _union_members(annotation: Any) -> Iterator[Any]:  # noqa: ANN401
    """Types of a value, without annotations."""
    if get_origin(annotation) is Annotated:
        yield from _union_members(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, types.UnionType):
        for arm in get_args(annotation):
            yield from _union_members(arm)
    else:
        yield annotation


def _field_types(kind: Any, part: str | int) -> Iterator[Any]:  # noqa: ANN401
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


def read_toml(file: Path) -> dict[str, Any]:
    """Read a TOML file, with or without a byte order mark; {} if it does not exist.

    Raises:
        SettingsError: If it cannot be read, is not UTF-8, or is not TOML; says where.
    """
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise SettingsError(f"{file}: cannot be read: {error.strerror}") from None
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SettingsError(
            f"{file}: not a TOML file: line {line} is not written in utf-8; save it as UTF-8"
        ) from None
    except RecursionError:
        raise SettingsError(f"{file}: not a TOML file: nested too deep") from None
    except ValueError as error:  # also for integers with thousands of digits
        raise SettingsError(f"{file}: not a TOML file: {error}") from None


def describe_validation_error(
    why: ValidationError,
    settings_type: Any,  # noqa: ANN401
    written: Mapping[str, Any] | None = None,
) -> str:
    """Name the invalid entry, and its expected value.

    The message shows an invalid number, but not a text, which may be a key in the wrong place.

    Args:
        why: Error of pydantic.
        settings_type: The type that was validated.
        written: The file's content, if ``settings_type`` is that of the whole file.
    """
    error = why.errors(include_url=False)[0]
    location = error["loc"]
    entry = ".".join(map(str, location))
    if error["type"] == "extra_forbidden":
        message = suggest_entry(
            str(location[-1]), _known_entries(settings_type, location, written or {})
        )
    else:
        is_number = isinstance(error["input"], int | float)
        text = error["msg"].removeprefix("Value error, ")
        message = f"{text} (given: {error['input']!r})" if is_number else text
    return f"entry {entry}: {message}" if entry else message


def _known_entries(
    settings_type: Any,  # noqa: ANN401
    place: tuple[str | int, ...],
    written: Mapping[str, Any],
) -> tuple[str, ...]:
    if written and place[0] == "models" and len(place) > 2:
        section = written["models"][place[1]]
        kind: Any = spec_of(section["kind"])
        return allowed_entries(CheckpointSpec if kind is AutoSpec else kind, place[2:])
    return tuple(name for name in allowed_entries(settings_type, place) if name != "home")
