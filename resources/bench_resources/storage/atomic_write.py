"""Atomic writes: readers see the old file or the new one."""

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from bench_assets.core.schema.errors import HomeError


@contextmanager
def open_atomic(path: Path, *, sync: bool = True) -> Generator[IO[bytes]]:
    """Open a temporary file that replaces ``path`` at the end of the ``with`` block.

    If writing fails, the temporary file is deleted, and ``path`` stays unchanged.

    Args:
        path: The file; its folder is created if missing.
        sync: Flush to the disk, so that the file survives a power cut; slow.

    Raises:
        HomeError: If the file cannot be written, for example on a full disk; names the path.
    """
    with describe_write_errors(path), open_temporary(path) as (file, name):
        yield file
        file.flush()
        if sync:
            os.fsync(file.fileno())
        name.replace(path)


@contextmanager
def open_temporary(path: Path) -> Generator[tuple[IO[bytes], Path]]:
    """Open a temporary file beside ``path``; at the end it is deleted, unless it was renamed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        dir=path.parent, prefix=".", suffix=".unfinished", delete=False
    ) as file:
        name = Path(file.name)
        try:
            yield file, name
        finally:
            name.unlink(missing_ok=True)


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
