"""Checksums of files that were digested: read once, and again only where that decides something."""

import pickle
from collections.abc import Iterable
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.files import content_digest
from bench_resources.checkpoints.identity import pin
from tests.sensors.watched import safetensors, write_checkpoint


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_checkpoint(tmp_path / "step-1")


def _overwrite(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(safetensors(b"4321"))


def test_files_at_rest_are_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """100 GB take minutes; a look at what the disk says of them takes none."""
    later = folder.stat().st_ctime_ns + 3600 * 10**9
    monkeypatch.setattr("time.time_ns", lambda: later)
    read: list[Path] = []

    def counted(files: Iterable[Path]) -> str:
        read.extend(files)
        return content_digest(files)

    pinned = pin(str(folder), digest=counted)
    assert len(read) == 3
    for one in pinned.checksums:
        assert one.intact() is one
        assert one.verify_existing() is one
    assert len(read) == 3


def test_a_checksummed_checkpoint_travels_to_the_processes_of_several_devices(folder: Path) -> None:
    pinned = pin(str(folder))
    there = pickle.loads(pickle.dumps(pinned))
    assert there == pinned
    _overwrite(folder)
    with pytest.raises(ModelError, match="overwritten or replaced"):
        there.checksums[0].intact()
