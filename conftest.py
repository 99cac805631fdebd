"""Doctests are looked for where some are written: to look into all files takes ten seconds."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[Any], list[Any]]:
    """What is collected in a file."""
    found = yield
    if file_path.suffix != ".py" or b">>> " in file_path.read_bytes():
        return found
    return [one for one in found if type(one) is pytest.Module]
