"""What is said of an entry of bench.toml that is refused: never what was written there."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from resources.settings.engine_kinds import spec_of
from resources.settings.secrets import without_shapes
from resources.settings.unknown_entries import advice, names_at


def refusal(
    why: ValidationError,
    settings_type: Any,  # noqa: ANN401
    written: Mapping[str, Any] | None = None,
) -> str:
    """Say which entry is not what it should be, and what it should be.

    A text that was given is not told, since a key may have been written in a wrong place; a number
    is.

    Args:
        why: What pydantic says.
        settings_type: The type that was to be read.
        written: The whole file, where the type is that of a whole file.
    """
    error = why.errors(include_url=False)[0]
    place = error["loc"]
    named = ".".join(map(str, place)) or "at the top"
    if error["type"] == "extra_forbidden":
        said = advice(str(place[-1]), _known(settings_type, place, written or {}))
    else:
        number = isinstance(error["input"], int | float)
        said = f"{error['msg']} (given: {error['input']!r})" if number else error["msg"]
    return without_shapes(f"entry {named}: {said}")


def _known(
    settings_type: Any,  # noqa: ANN401
    place: tuple[str | int, ...],
    written: Mapping[str, Any],
) -> tuple[str, ...]:
    if written and place[0] == "models" and len(place) > 2:
        section = written["models"][place[1]]
        return names_at(spec_of(section["kind"]), place[2:])
    return tuple(name for name in names_at(settings_type, place) if name != "home")
