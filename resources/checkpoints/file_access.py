"""Opens the files of a checkpoint that a stranger wrote: nothing is waited for, all is bounded."""

import json
import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import Any

from bench_assets.core.schema.errors import ModelError

_MOST_BYTES = 64 * 2**20  # of a JSON file; the index of 100,000 tensors has a sixth of it
_MOSTLY = 2**20  # bytes; nearly all have less, and room for the most costs more than reading them
_MOST_VALUES = 5_000_000  # of a JSON text; what Python makes of them takes less than 1 GB
_LONGEST_NAME = 120  # characters of a stranger's name that a message shows
_KINDS = {
    stat.S_ISDIR: "a folder",
    stat.S_ISFIFO: "a FIFO",
    stat.S_ISSOCK: "a socket",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
}


def printable_text(written: object) -> str:
    r"""Write a text so that every terminal and every database takes it.

    >>> printable_text("caf\udce9 \x1b[31m")
    'caf\\udce9 \\x1b[31m'
    """
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in str(written)
    )


def abbreviated(name: object) -> str:
    """Show what a file says, of whatever length."""
    text = str(name)
    return printable_text(f"{text[:_LONGEST_NAME]}..." if len(text) > _LONGEST_NAME else text)


def quoted_name(name: object) -> str:
    """Show a name that a file says, of whatever length, in quotes."""
    return f"'{abbreviated(name)}'"


def regular_file_stat(file: Path) -> os.stat_result:
    """What the disk says of a file, links followed.

    Raises:
        ModelError: If it is not there, cannot be looked at, or is no file; names it.
    """
    try:
        about = file.stat()
    except FileNotFoundError as why:
        if file.is_symlink():
            raise ModelError(f"{file}: a link to what is not there") from why
        raise ModelError(f"{file.parent}: {file.name} is missing") from why
    except (OSError, ValueError) as why:  # ValueError: a name that no file can have
        raise ModelError(f"{file}: cannot be read: {_reason(why)}") from why
    for is_one, kind in _KINDS.items():
        if is_one(about.st_mode):
            raise ModelError(f"{file}: {kind} where a file should be")
    return about


def open_regular(file: Path) -> BufferedReader:
    """Open a file to read its bytes.

    Somebody may put a FIFO in its place just now; opening one would wait until it is written to.

    Raises:
        ModelError: If it cannot be opened, or is no file; names it.
    """
    regular_file_stat(file)
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as why:
        raise ModelError(f"{file}: cannot be opened: {_reason(why)}") from why
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ModelError(f"{file}: no file any more")
    return os.fdopen(descriptor, "rb")


def read_json(file: Path) -> Any:  # noqa: ANN401 - JSON
    """Read a JSON file of bounded size, in which no object says a name twice.

    ``Infinity`` is read, because Mamba's configurations have it.

    Raises:
        ModelError: If it is none, or cannot be read; names it.
        OSError: If reading breaks off.
    """
    return parse_json(read_bounded(file), f"{file}: not JSON")


def read_bounded(file: Path) -> bytes:
    """Read the bytes of a JSON file of bounded size.

    Raises:
        ModelError: If it has more, or cannot be read; names it.
        OSError: If reading breaks off.
    """
    with open_regular(file) as opened:
        written = opened.read(_MOSTLY)
        if len(written) == _MOSTLY:
            written += opened.read(_MOST_BYTES + 1 - _MOSTLY)
    if len(written) > _MOST_BYTES:
        raise ModelError(f"{file}: not JSON that is read here: more than {_MOST_BYTES >> 20} MiB")
    return written


def parse_json(written: bytes, complaint: str) -> Any:  # noqa: ANN401 - JSON
    """Read a JSON text in bounded time and memory.

    Raises:
        ModelError: If it is none: ``complaint``, and why.
    """
    if sum(map(written.count, (b",", b":", b"[", b"{"))) > _MOST_VALUES:
        raise ModelError(f"{complaint}: more than {_MOST_VALUES} values")
    try:
        return json.loads(
            written.decode("utf-8"),
            object_pairs_hook=_refuse_duplicate_names,
            parse_constant=_constant,
        )
    except RecursionError as why:
        raise ModelError(f"{complaint}: nested too deeply") from why
    except ValueError as why:
        raise ModelError(f"{complaint}: {_reason(why)}") from why


def _refuse_duplicate_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for n, name in enumerate(names) if name in names[:n])
        raise ValueError(f"{quoted_name(twice)} is there twice")
    return made


def _constant(written: str) -> float:
    if written == "NaN":
        raise ValueError("NaN is no value")
    return float(written)


def _reason(why: Exception) -> str:
    if isinstance(why, OSError):
        return why.strerror or type(why).__name__
    if isinstance(why, UnicodeDecodeError):
        return f"not UTF-8 at byte {why.start}"
    return str(why)
