"""Turns of processes that write a file of a home."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def hold_file(home: Path, name: str) -> Generator[None]:
    """Hold the lock of a file of a home while it is read and replaced; waits without a message.

    Raises:
        HomeError: If the lock file cannot be written.
    """
    from bench_resources.storage.locks import hold_locks

    with hold_locks(home / "locks", [name], lambda _: None):
        yield
