from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.fakes.checkpoint_files import write_checkpoint
from tests.families import releases


@pytest.fixture(params=[0, 3600], ids=["written just now", "at rest for an hour"])
def folder(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkpoint of a few bytes with code of its own."""
    checkpoint = write_checkpoint(tmp_path / "runs" / "step-1")
    (checkpoint / "modeling_own.py").write_text("own = 1")
    if seconds_at_rest := request.param:
        later = checkpoint.stat().st_ctime_ns + seconds_at_rest * 10**9
        monkeypatch.setattr("time.time_ns", lambda: later)
    return checkpoint


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Writes a release of tests/families by its name, once."""

    @cache
    def build(name: str) -> Path:
        folder = tmp_path_factory.mktemp(name)
        releases.build(name, folder)
        return folder

    return build
