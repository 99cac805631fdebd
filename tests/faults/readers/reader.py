from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["text", "json", "lines", "bytes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A function that reads foreign input, with examples of the input."""

    name: str
    kind: Kind  # of the drawn input: free text, JSON, lines of JSON, bytes
    read: Callable[[bytes, Path], object]  # the input, and an empty folder to write it into
    seeds: tuple[bytes, ...]  # well-formed inputs
    words: tuple[str, ...] = ()  # with a meaning to it
    short: bool = True


def row(name: str, kind: str, read: object, *seeds: bytes, **fields: object) -> Reader:
    """A reader with its seeds; ``fields`` are further ones."""
    return Reader(name=name, kind=kind, read=read, seeds=seeds, **fields)  # type: ignore[arg-type]


def from_file(name: str, read: Callable[[Path], object]) -> Callable[[bytes, Path], object]:
    """A reader of bytes that writes them into a file of this name and reads the file."""

    def read_bytes(data: bytes, folder: Path) -> object:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        return read(file)

    return read_bytes


def from_text(read: Callable[[str], object]) -> Callable[[bytes, Path], object]:
    """A reader of bytes that decodes them and reads the text; invalid UTF-8 becomes surrogates."""
    return lambda data, _: read(data.decode("utf-8", "surrogateescape"))
