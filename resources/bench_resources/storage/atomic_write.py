"""Atomic writes: readers see the old file or the new one."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import IO

from bench_assets.core.schema.errors import HomeError


@contextmanager
def open_atomic(path: Path, *, sync: bool = True) -> Generator[IO[bytes]]:
    """Open a temporary file that replaces ``path`` at the end of the ``with`` block.

    If writing fails, the temporary file is deleted, and ``path`` stays unchanged.

    Args:
        path: The file; its folder is created if missing.
        sync: Flush to the disk first, so that a power cut leaves the old file or the new; slow.

    Raises:
        HomeError: For any error of the operating system in the block; names the path.
    """
    with describe_write_errors(path), open_temporary(path) as (file, temporary):
        yield file
        file.flush()
        if sync:
            os.fsync(file.fileno())
        temporary.replace(path)


@contextmanager
def open_temporary(path: Path, mode: int = 0o666) -> Generator[tuple[IO[bytes], Path]]:
    """Open a temporary file beside ``path``; at the end it is deleted, unless it was renamed.

    ``mode``: its permissions, from which the umask is taken.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{token_hex(8)}.unfinished")
    with open(temporary, "x+b", opener=partial(os.open, mode=mode)) as file:
        try:
            yield file, temporary
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def describe_write_errors(path: Path) -> Generator[None]:
    """Name the file that could not be written.

    Raises:
        HomeError: For any error of the operating system.
    """
    try:
        yield
    except OSError as error:
        raise HomeError(f"{path}: cannot be written: {error.strerror or error}") from error
