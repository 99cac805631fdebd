"""Opens the files of a checkpoint: regular files only, JSON with errors that name the file."""

import json
import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import Any

from bench_assets.core.schema.errors import ModelError

_LONGEST_NAME = 120  # characters of a name that a message shows


def printable_text(written: object) -> str:
    r"""Escape what a terminal or a database would not take.

    >>> printable_text("caf\udce9 \x1b[31m")
    'caf\\udce9 \\x1b[31m'
    """
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in str(written)
    )


def abbreviated(name: object) -> str:
    """A value of a file as printable text of bounded length."""
    text = str(name)
    return printable_text(f"{text[:_LONGEST_NAME]}..." if len(text) > _LONGEST_NAME else text)


def quoted_name(name: object) -> str:
    """``abbreviated``, in quotes."""
    return f"'{abbreviated(name)}'"


def regular_file_stat(file: Path) -> os.stat_result:
    """Stat a file, following links.

    Raises:
        ModelError: If it is missing, unreadable, or not a regular file; names it.
    """
    try:
        about = file.stat()
    except FileNotFoundError as why:
        if file.is_symlink():
            raise ModelError(f"{file}: broken link") from why
        raise ModelError(f"{file.parent}: {file.name} is missing") from why
    except (OSError, ValueError) as why:  # ValueError: a name that no file can have
        raise ModelError(f"{file}: cannot be read: {_reason(why)}") from why
    if not stat.S_ISREG(about.st_mode):
        raise ModelError(f"{file}: not a regular file")
    return about


def open_regular(file: Path) -> BufferedReader:
    """Open a file to read its bytes.

    Raises:
        ModelError: If it cannot be opened, or is not a regular file; names it.
    """
    regular_file_stat(file)
    try:
        return file.open("rb")
    except OSError as why:
        raise ModelError(f"{file}: cannot be opened: {_reason(why)}") from why


def read_json(file: Path) -> Any:  # noqa: ANN401 - JSON
    """Read a JSON file; ``Infinity`` is accepted, because Mamba's configurations have it.

    Raises:
        ModelError: If it is not JSON, or cannot be read; names it.
        OSError: If reading breaks off.
    """
    with open_regular(file) as opened:
        written = opened.read()
    try:
        return json.loads(written.decode("utf-8"))
    except RecursionError as why:
        raise ModelError(f"{file}: not JSON: nested too deeply") from why
    except ValueError as why:
        raise ModelError(f"{file}: not JSON: {_reason(why)}") from why


def _reason(why: Exception) -> str:
    if isinstance(why, OSError):
        return why.strerror or type(why).__name__
    if isinstance(why, UnicodeDecodeError):
        return f"not UTF-8 at byte {why.start}"
    return str(why)
