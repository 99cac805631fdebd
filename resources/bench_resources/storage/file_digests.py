"""File digests, cached by path, size and modification time, as in ``make``.

Digests do not depend on absolute paths. Checking a few thousand unchanged files takes milliseconds.
"""

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import file_digest
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from bench_assets.core.schema.errors import HomeError
from bench_resources.storage.atomic_write import open_atomic


def file_states(paths: Iterable[Path], without: Path | None = None) -> Iterator[list[Any]]:
    """States of files, and of all files in folders, sorted."""
    for path in paths:
        if path.is_file():
            yield file_state(path)
            continue
        for folder, subfolders, names in os.walk(path, followlinks=True):
            subfolders[:] = sorted(
                name
                for name in subfolders
                if name != "__pycache__"
                and (inner := Path(folder, name)) != without
                and not _is_cyclic_link(inner)
            )
            for name in sorted(names):
                yield file_state(Path(folder, name))


def _is_cyclic_link(folder: Path) -> bool:
    """Whether a folder is a link to one that it is in: two such links have no end."""
    return folder.is_symlink() and folder.parent.resolve().is_relative_to(folder.resolve())


def file_state(file: Path) -> list[Any]:
    """Path, size and modification time in ns; only the path if there is no such file."""
    try:
        status = file.stat()
    except OSError:
        return [str(file)]
    return [str(file), status.st_size, status.st_mtime_ns]


def iter_texts(value: object) -> Iterator[str]:
    """All strings in a setting, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from iter_texts(list(value.values()))
    elif isinstance(value, Sequence):
        for part in value:
            yield from iter_texts(part)


DIGESTS_FILE = "digests.json"

_KNOWN = TypeAdapter(dict[str, tuple[int, int, str]])
_LARGE = 1 << 26  # bytes; larger files are compared by size and time
_SETTLED = 2.0  # s: a file this new may change again without a new time, on a coarse clock


class FileDigests:
    """Digests of files, cached in a file of the home."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._known: dict[str, tuple[int, int, str]] = {}  # size, time of change, digest
        with suppress(OSError, ValidationError):  # none, or damaged: files are read again
            self._known = _KNOWN.validate_json(file.read_bytes())

    def of(self, paths: Iterable[Path], without: Path | None = None) -> Iterator[list[str]]:
        """Names and digests of files, and of all files in folders, sorted.

        A name begins with the name of the given file or folder.
        """
        before = dict(self._known)
        for path in paths:
            prefix_length = len(str(path.parent)) + 1
            for state in file_states([path], without):
                yield [str(state[0])[prefix_length:], self._content(*state)]
        if self._known != before:
            self._keep()

    def _content(self, name: str, size: int = -1, changed: int = 0) -> str:
        if size < 0:  # a broken link, or deleted meanwhile
            return "not there"
        if size > _LARGE:
            return f"{size} {changed}"
        known = self._known.get(name)
        if known and known[:2] == (size, changed):
            return known[2]
        try:
            with Path(name).open("rb") as file:
                digest = file_digest(file, "sha256").hexdigest()
        except OSError as error:  # reported by the reader of its content
            return str(error.strerror)
        self._known.pop(name, None)
        if time.time() - changed / 1e9 > _SETTLED:
            self._known[name] = size, changed, digest
        return digest

    def _keep(self) -> None:
        if not self._file.parent.is_dir():  # reading digests creates no home
            return
        existing = {name: known for name, known in list(self._known.items()) if Path(name).exists()}
        with suppress(HomeError), open_atomic(self._file, sync=False) as file:
            file.write(json.dumps(existing).encode())


@cache
def home_digests(home: Path) -> FileDigests:
    """Digests of a home's files; read once per process."""
    return FileDigests(home / DIGESTS_FILE)
