"""Message about a new home folder, printed once."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from bench_assets.workspace.console.output import print_message


def print_new_home(home: Path) -> None:
    """Print the path of a home that does not exist yet, before it is written to."""
    if not os.path.exists(home):  # noqa: PTH110 - False for a name that is too long
        _print_created(home)


@contextmanager
def new_home_printed(home: Path) -> Generator[None]:
    """Print the path of a home that the block makes, also if it fails."""
    is_new = not os.path.exists(home)  # noqa: PTH110
    try:
        yield
    finally:
        if is_new and os.path.exists(home):  # noqa: PTH110
            _print_created(home)


def _print_created(home: Path) -> None:
    print_message(f"{home}: created, for tables, responses and the report")
