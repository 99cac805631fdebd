"""What a file or folder is now, without reading it: path, size and time of change, as in ``make``.

A look at a few thousand files takes milliseconds.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any


def states(paths: Iterable[Path], without: Path | None = None) -> Iterator[list[Any]]:
    """The states of files, and of every file in folders, in an order of their own.

    Args:
        paths: Files and folders.
        without: A folder that does not count.
    """
    for path in paths:
        if path.is_file():
            yield state(path)
            continue
        for folder, below, names in os.walk(path, followlinks=True):
            below[:] = sorted(
                name for name in below if name != "__pycache__" and Path(folder, name) != without
            )
            for name in sorted(names):
                yield state(Path(folder, name))


def state(file: Path) -> list[Any]:
    """Path, size and time of change; only the path if there is no such file."""
    try:
        about = file.stat()
    except OSError:
        return [str(file)]
    return [str(file), about.st_size, about.st_mtime_ns]


def digest_of(facts: object) -> str:
    """Digest anything that JSON can say; anything else in it as the text that it is shown as."""
    return sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()


def texts_in(value: object) -> Iterator[str]:
    """Every text in a setting, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from texts_in(list(value.values()))
    elif isinstance(value, Sequence):
        for part in value:
            yield from texts_in(part)
