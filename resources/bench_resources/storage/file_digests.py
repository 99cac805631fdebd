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
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from bench_assets.core.schema.errors import HomeError
from bench_resources.storage.atomic_write import open_atomic


class FileState(NamedTuple):
    """What changes when a file is written, without a look at its content."""

    path: str
    size: int = -1  # bytes; -1: there is no such file
    mtime_ns: int = 0  # time of its last change, in ns since the epoch


def file_states(paths: Iterable[Path]) -> Iterator[FileState]:
    """Yield the states of files, and of those in folders, in a fixed order; not of bytecode."""
    for path in paths:
        if path.is_file():
            yield file_state(path)
            continue
        for folder, subfolders, names in os.walk(path, followlinks=True):
            subfolders[:] = sorted(
                name
                for name in subfolders
                if name != "__pycache__" and not _is_cyclic_link(Path(folder, name))
            )
            for name in sorted(names):
                yield file_state(Path(folder, name))


def _is_cyclic_link(folder: Path) -> bool:
    """Whether a folder is a link to one that it is in: two such links have no end."""
    return folder.is_symlink() and folder.parent.resolve().is_relative_to(folder.resolve())


def file_state(file: Path) -> FileState:
    """State of a file; the defaults if it does not exist or cannot be reached."""
    try:
        status = file.stat()
    except OSError:
        return FileState(str(file))
    return FileState(str(file), size=status.st_size, mtime_ns=status.st_mtime_ns)


def iter_texts(value: object) -> Iterator[str]:
    """Yield the strings in a setting, at any depth; of mappings, only values."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from iter_texts(list(value.values()))
    elif isinstance(value, Sequence):
        for element in value:
            yield from iter_texts(element)


DIGESTS_FILE = "digests.json"

_LARGE = 1 << 26  # bytes; larger files are compared by size and time
_SETTLED_SECONDS = 2.0  # s within which two changes may get the same time, on a coarse clock


class _CachedDigest(NamedTuple):
    size: int
    mtime_ns: int
    digest: str


_CACHE_TYPE = TypeAdapter(dict[str, _CachedDigest])


class FileDigests:
    """Digests of files, cached in a file of the home."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._cache: dict[str, _CachedDigest] = {}  # by path
        with suppress(OSError, ValidationError):  # none, or damaged: files are read again
            self._cache = _CACHE_TYPE.validate_json(file.read_bytes())

    def of(self, paths: Iterable[Path]) -> Iterator[tuple[str, str]]:
        """Yield name and digest of each file of ``file_states``.

        A name begins with the name of the given file or folder.
        """
        previous = dict(self._cache)
        for path in paths:
            prefix_length = len(str(path)) - len(path.name)
            for state in file_states([path]):
                yield state.path[prefix_length:], self._digest(state)
        if self._cache != previous:
            self._save()

    def _digest(self, state: FileState) -> str:
        """Digest of a file; size and time of a large one; or why it is unreadable."""
        path, size, mtime_ns = state
        if size < 0:  # a broken link, or deleted meanwhile
            return "not there"
        if size > _LARGE:
            return f"{size} {mtime_ns}"
        cached = self._cache.get(path)  # read once: another thread may drop it
        if cached and (cached.size, cached.mtime_ns) == (size, mtime_ns):
            return cached.digest
        try:
            with Path(path).open("rb") as file:
                digest = file_digest(file, "sha256").hexdigest()
        except OSError as error:  # reported by the reader of its content
            return str(error.strerror)
        self._cache.pop(path, None)
        if time.time() - mtime_ns / 1e9 > _SETTLED_SECONDS:
            self._cache[path] = _CachedDigest(size=size, mtime_ns=mtime_ns, digest=digest)
        return digest

    def _save(self) -> None:
        if not self._file.parent.is_dir():  # reading digests creates no home
            return
        entries = list(self._cache.items())  # a copy: another thread may add some
        existing = {path: entry for path, entry in entries if Path(path).exists()}
        with suppress(HomeError), open_atomic(self._file, sync=False) as file:
            file.write(json.dumps(existing).encode())


@cache
def home_digests(home: Path) -> FileDigests:
    """Digests of a home's files; read once per process."""
    return FileDigests(home / DIGESTS_FILE)
