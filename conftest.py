"""Doctests: looked for where some are written, which saves ten seconds; in a home of their own."""

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


@pytest.fixture(scope="session")
def home_of_doctests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where doctests evaluate; shared, so that questions are built once."""
    return tmp_path_factory.mktemp("doctests") / "home"


@pytest.fixture
def doctest_namespace(home_of_doctests: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """No further names; pytest asks for them before each doctest, and for no other test."""
    monkeypatch.setenv("BENCH_HOME", str(home_of_doctests))
    return {}
