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

AnySection = TypeVar("AnySection", bound=BaseModel)


def suggest_entry(name: str, known: Iterable[str]) -> str:
    """Suggestion for an unknown name: the nearest name, and all known names.

    >>> suggest_entry("scorr", ["judge", "scorer"])
    "unknown; did you mean 'scorer'? known: judge, scorer"
    """
    known_names = sorted(set(known))
    suggestion = did_you_mean(name, known_names)
    sentences = ["unknown;", suggestion, f"known: {', '.join(known_names) or 'none'}"]
    return " ".join(filter(None, sentences))


def forbid_extra(settings_type: type[AnySection]) -> type[AnySection]:
    """The settings type with unknown entries forbidden, unless it allows them explicitly."""
    if settings_type.model_config.get("extra") == "allow":
        return settings_type
    return types.new_class(settings_type.__name__, (settings_type,), {"extra": "forbid"})


def allowed_entries(settings_type: Any, location: Sequence[str | int]) -> tuple[str, ...]:  # noqa: ANN401
    """Names of the entries allowed in the section of an entry; () if its type is unknown.

    ``location`` is that of the entry from ``settings_type`` on, as pydantic's ``loc``.
    """
    types_at = [*_union_members(settings_type)]
    for key in location[:-1]:
        inner_types = [inner for outer in types_at for inner in _inner_types(outer, key)]
        types_at = inner_types or types_at  # pydantic names the arm of a union too
    sections = filter(_is_section, types_at)
    return tuple(
        field.alias or name for section in sections for name, field in section.model_fields.items()
    )


def _union_members(annotation: Any) -> Iterator[Any]:  # noqa: ANN401
    """Types of a value, without annotations."""
    if get_origin(annotation) is Annotated:
        yield from _union_members(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, types.UnionType):
        for arm in get_args(annotation):
            yield from _union_members(arm)
    else:
        yield annotation


def _inner_types(outer: Any, key: str | int) -> Iterator[Any]:  # noqa: ANN401
    """Types of the value under a key or index, without annotations."""
    if _is_section(outer):
        for name, field in outer.model_fields.items():
            if key in (name, field.alias):
                yield from _union_members(field.annotation)
    elif get_origin(outer):
        arguments = [argument for argument in get_args(outer) if argument is not Ellipsis]
        for argument in arguments[-1:]:  # of a list its elements, of a mapping its values
            yield from _union_members(argument)


def _is_section(annotation: Any) -> bool:  # noqa: ANN401
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


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
    error: ValidationError,
    settings_type: Any,  # noqa: ANN401
    content: Mapping[str, Any] | None = None,
) -> str:
    """Name the first invalid entry, and its expected value.

    The message shows an invalid number, but not a text, which may be a key in the wrong place.
    ``content`` is that of the file, if ``settings_type`` is the type of a whole file.
    """
    details = error.errors(include_url=False)[0]
    location = details["loc"]
    entry = ".".join(map(str, location))
    if details["type"] == "extra_forbidden":
        known = _known_entries(settings_type, location, content or {})
        message = suggest_entry(str(location[-1]), known)
    else:
        message = details["msg"].removeprefix("Value error, ")
        if isinstance(details["input"], int | float):
            message += f" (given: {details['input']!r})"
    return f"entry {entry}: {message}" if entry else message


def _known_entries(
    settings_type: Any,  # noqa: ANN401
    location: tuple[str | int, ...],
    content: Mapping[str, Any],
) -> tuple[str, ...]:
    """Names of the entries allowed beside an unknown one; of a model, those of its kind."""
    section, *inner_location = location
    if content and section == "models" and len(inner_location) > 1:
        name, *entry = inner_location
        spec_type: Any = spec_of(content["models"][name]["kind"])
        return allowed_entries(CheckpointSpec if spec_type is AutoSpec else spec_type, entry)
    return tuple(name for name in allowed_entries(settings_type, location) if name != "home")
