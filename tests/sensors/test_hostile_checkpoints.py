"""A survey over hostile checkpoints: each is named with what is wrong, and ends nothing else."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import BenchError
from resources.checkpoints.identity import pin
from resources.checkpoints.watched_folders import find_checkpoint
from tests.sensors.hostile import HOSTILE, Damage
from tests.sensors.watched import Daemon, look, names, write_checkpoint

_LONGEST = 5.0  # s that a look at one small folder may take, on whatever machine


@pytest.fixture
def begun() -> Iterator[float]:
    """When a test began; it may not take long."""
    start = time.monotonic()
    yield start
    assert time.monotonic() - start < _LONGEST


@pytest.mark.parametrize(("damage", "says"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_checkpoint_is_named_and_the_others_are_found(
    tmp_path: Path, begun: float, damage: Damage, says: str
) -> None:
    write_checkpoint(tmp_path / "runs" / "a" / "step-1")
    damage(write_checkpoint(tmp_path / "runs" / "b" / "step-1", b"5678", shards=2))
    write_checkpoint(tmp_path / "runs" / "c" / "step-1", b"9abc")
    found = look(tmp_path / "runs")
    assert [one.name for one in found.finished] == ["a/step-1", "c/step-1"]
    assert list(found.unfinished) == ["b/step-1"]
    assert says in found.unfinished["b/step-1"]
    assert found.unfinished["b/step-1"].isprintable()
    assert len(found.unfinished["b/step-1"]) < 2_000
    # The good one behind it is found again, too, after it was renamed.
    (key,) = (one.key for one in found.finished if one.name == "c/step-1")
    (tmp_path / "runs" / "c").rename(tmp_path / "runs" / "d")
    assert find_checkpoint(key, [tmp_path / "runs"]) == tmp_path / "runs" / "d" / "step-1"


_ONLY_THE_SURVEY_LOOKS = (  # into headers and pickles; loading refuses them by itself
    *("a header", "offsets", "a hole", "a pickle", "a zip", "a new", "an empty"),
    *("a shard cut", "a zipped", "an adapter without", "a config of", "a config that"),
)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(damage, id=name)
        for name, (damage, _) in HOSTILE.items()
        if not name.startswith(_ONLY_THE_SURVEY_LOOKS)
    ],
)
def test_a_hostile_checkpoint_is_refused_where_it_is_named_in_the_settings(
    tmp_path: Path, begun: float, damage: Damage
) -> None:
    folder = write_checkpoint(tmp_path / "b", shards=2)
    damage(folder)
    with pytest.raises(BenchError, match=str(folder)):
        pin(str(folder))


def test_a_sensor_asks_for_the_good_ones_and_says_what_it_did_not_take(
    daemon: Daemon, runs: Path
) -> None:
    for n, (damage, _) in enumerate(list(HOSTILE.values())[::15]):
        damage(write_checkpoint(runs / f"x{n}" / "step-1", bytes([n, 0]), shards=2))
    write_checkpoint(runs / "zz" / "step-1", b"9abc")
    (runs / "x0").rename(runs / os.fsdecode(b"\xff\xfe"))
    assert names(daemon.tick()) == ["zz/step-1 codis+blink"]
    assert daemon.tick() == []
    assert "not taken: \\udcff\\udcfe/step-1: " in daemon.said
    assert daemon.said.isascii()


def test_a_folder_that_is_not_utf_8_is_to_be_renamed(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "good")
    write_checkpoint(tmp_path / "bad", b"5678").rename(tmp_path / os.fsdecode(b"\xff"))
    found = look(tmp_path)
    assert [one.name for one in found.finished] == ["good"]
    assert "rename it" in found.unfinished["\\udcff"]


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "."])
def test_what_may_not_be_read_is_named(tmp_path: Path, name: str) -> None:
    write_checkpoint(tmp_path / "good")
    closed = write_checkpoint(tmp_path / "bad", b"5678") / name
    closed.chmod(0)
    try:
        found = look(tmp_path)
    finally:
        closed.chmod(0o700)
    assert [one.name for one in found.finished] == ["good"]
    assert "bad" in str(found.unfinished)


def test_a_file_in_place_of_another_as_old_and_as_long_is_seen(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "a")
    (before,) = look(tmp_path).digests
    weights = folder / "model.safetensors"
    was = weights.stat()
    other = tmp_path / "other"
    other.write_bytes(weights.read_bytes()[:-1] + b"5")
    os.utime(other, ns=(was.st_atime_ns, was.st_mtime_ns))
    other.replace(weights)
    assert before not in look(tmp_path).digests
