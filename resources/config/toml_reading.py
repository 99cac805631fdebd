"""Reads a TOML file that a person wrote: whatever is wrong with it is one sentence.

What is said of an entry of bench.toml that is refused: never what was written there.
"""

import codecs
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bench_assets.core.schema.errors import SettingsError
from resources.config.secrets import without_shapes
from resources.config.sections.engine_kinds import spec_of
from resources.config.unknown_entries import advice, names_at

_OTHER_ENCODINGS = {
    codecs.BOM_UTF32_LE: "UTF-32",  # before UTF-16, which begins in the same way
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


def read_toml(file: Path) -> dict[str, Any]:
    """Read a file; {} if there is none. A byte order mark of UTF-8, as Windows writes it, is read.

    Raises:
        SettingsError: If it cannot be read, is written in another encoding, or is not TOML, as with
            a table that is there twice; says where.
    """
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as why:
        raise SettingsError(f"{file}: cannot be read: {why.strerror}") from None
    if other := _other_encoding(data):
        raise SettingsError(f"{file}: is written in {other}; save it as UTF-8")
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as why:
        line = data.count(b"\n", 0, why.start) + 1
        raise SettingsError(
            f"{file}: not a TOML file: line {line} is not written in utf-8; save it as UTF-8"
        ) from None
    except RecursionError:
        raise SettingsError(f"{file}: not a TOML file: nested too deep") from None
    except ValueError as why:  # with what it says of numbers with thousands of digits
        raise SettingsError(f"{file}: not a TOML file: {without_shapes(str(why))}") from None


def _other_encoding(data: bytes) -> str:
    for mark, encoding in _OTHER_ENCODINGS.items():
        if data.startswith(mark):
            return encoding
    return "UTF-16 or UTF-32" if b"\0" in data[:4] else ""


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
