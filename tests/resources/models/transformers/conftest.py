"""What the tests here share."""

from pathlib import Path

import pytest

from tests.fakes.checkpoint_files import write_checkpoint


@pytest.fixture(params=[0, 3600], ids=["written just now", "at rest for an hour"])
def folder(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = write_checkpoint(tmp_path / "runs" / "step-1")
    (made / "modeling_own.py").write_text("own = 1")
    later = made.stat().st_ctime_ns + request.param * 10**9
    if request.param:
        monkeypatch.setattr("time.time_ns", lambda: later)
    return made
