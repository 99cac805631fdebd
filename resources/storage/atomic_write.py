"""Writes a file so that readers see the old one or the new one, never half of one."""

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from bench_assets.core.schema.errors import HomeError


@contextmanager
def open_atomic(path: Path, *, sync: bool = True) -> Generator[IO[bytes]]:
    """Open a file that takes the place of ``path`` at the end of the ``with`` block.

    What cannot be written whole is deleted again: what lay at ``path`` stays.

    Args:
        path: Its folder is made if there is none.
        sync: Wait until the disk has it, so that a power cut leaves no half of it; that takes long.

    Raises:
        HomeError: If the disk is full, or does not take it for another reason; names the place.
    """
    with describe_write_errors(path), open_temporary(path) as (file, name):
        yield file
        file.flush()
        if sync:
            os.fsync(file.fileno())
        name.replace(path)


@contextmanager
def open_temporary(path: Path) -> Generator[tuple[IO[bytes], Path]]:
    """Open a file beside ``path``, which is deleted at the end if it still has that name."""
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
        HomeError: For everything that the system complains of.
    """
    try:
        yield
    except OSError as why:
        raise HomeError(f"{path}: cannot be written: {why.strerror or why}") from why
