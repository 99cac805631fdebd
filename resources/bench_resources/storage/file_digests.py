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
    """Yield the states of files, and of those in folders but ``without`` and ``__pycache__``."""
    for path in paths:
        if path.is_file():
            yield file_state(path)
            continue
        for folder, subfolders, names in os.walk(path, followlinks=True):
            excluded = {"__pycache__"}
            for name in subfolders:
                subfolder = Path(folder, name)
                if subfolder == without or _is_cyclic_link(subfolder):
                    excluded.add(name)
            subfolders[:] = sorted(set(subfolders) - excluded)
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
    """Yield all strings in a setting, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from iter_texts(list(value.values()))
    elif isinstance(value, Sequence):
        for element in value:
            yield from iter_texts(element)


DIGESTS_FILE = "digests.json"

_CACHE_TYPE = TypeAdapter(dict[str, tuple[int, int, str]])
_LARGE = 1 << 26  # bytes; larger files are compared by size and time
_SETTLED_SECONDS = 2.0  # s within which two changes may get the same time, on a coarse clock


class FileDigests:
    """Digests of files, cached in a file of the home."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._cache: dict[str, tuple[int, int, str]] = {}  # size, mtime in ns, digest
        with suppress(OSError, ValidationError):  # none, or damaged: files are read again
            self._cache = _CACHE_TYPE.validate_json(file.read_bytes())

    def of(self, paths: Iterable[Path], without: Path | None = None) -> Iterator[list[str]]:
        """Yield names and digests of files, and of all files in folders but ``without``, sorted.

        A name begins with the name of the given file or folder.
        """
        previous = dict(self._cache)
        for path in paths:
            prefix_length = len(str(path.parent)) + 1
            for state in file_states([path], without):
                yield [str(state[0])[prefix_length:], self._content(*state)]
        if self._cache != previous:
            self._save()

    def _content(self, name: str, size: int = -1, mtime_ns: int = 0) -> str:
        """Digest of a file in this state; size and time of a large one; or why it is unreadable."""
        if size < 0:  # a broken link, or deleted meanwhile
            return "not there"
        if size > _LARGE:
            return f"{size} {mtime_ns}"
        cached = self._cache.get(name)  # read once: another thread may drop it
        if cached:
            *cached_state, digest = cached
            if cached_state == [size, mtime_ns]:
                return digest
        try:
            with Path(name).open("rb") as file:
                digest = file_digest(file, "sha256").hexdigest()
        except OSError as error:  # reported by the reader of its content
            return str(error.strerror)
        self._cache.pop(name, None)
        if time.time() - mtime_ns / 1e9 > _SETTLED_SECONDS:
            self._cache[name] = size, mtime_ns, digest
        return digest

    def _save(self) -> None:
        if not self._file.parent.is_dir():  # reading digests creates no home
            return
        entries = list(self._cache.items())  # a copy: another thread may add some
        existing = {name: entry for name, entry in entries if Path(name).exists()}
        with suppress(HomeError), open_atomic(self._file, sync=False) as file:
            file.write(json.dumps(existing).encode())


@cache
def home_digests(home: Path) -> FileDigests:
    """Digests of a home's files; read once per process."""
    return FileDigests(home / DIGESTS_FILE)
