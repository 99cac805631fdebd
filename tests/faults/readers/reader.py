"""A reader of foreign text or bytes: a row of the table of readers."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["text", "json", "lines", "bytes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Something that reads what others wrote."""

    name: str
    kind: Kind  # how its input is made: free text, JSON, lines of JSON, bytes
    read: Callable[[bytes, Path], object]  # the input, and an empty folder to write it into
    seeds: tuple[bytes, ...]  # well-formed inputs
    words: tuple[str, ...] = ()  # that mean something to it
    short: bool = True


def of_file(name: str, read: Callable[[Path], object]) -> Callable[[bytes, Path], object]:
    """Read input as a file of this name."""

    def written(data: bytes, folder: Path) -> object:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        return read(file)

    return written


def of_text(read: Callable[[str], object]) -> Callable[[bytes, Path], object]:
    """Read input as text; what is not UTF-8 is taken for other characters."""
    return lambda data, _: read(data.decode("utf-8", "surrogateescape"))
