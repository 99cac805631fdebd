"""Reads a TOML file that a person wrote: whatever is wrong with it is one sentence."""

import codecs
import tomllib
from pathlib import Path
from typing import Any

from bench_assets.core.errors import SettingsError
from resources.settings.secrets import without_shapes

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
