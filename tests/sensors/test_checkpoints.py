"""Every checkpoint is evaluated once on every suite, whatever happens to it and to the daemon."""

import json
import shutil
from pathlib import Path

import dagster as dg

from tests.sensors.watched import Daemon, names, write_checkpoint


def test_a_new_checkpoint_becomes_a_partition_and_one_run(daemon: Daemon, runs: Path) -> None:
    write_checkpoint(runs / "a" / "step-1")
    assert names(daemon.tick()) == ["a/step-1 codis+blink"]
    assert daemon.partitions() == ["a/step-1"]
    assert daemon.tick() == []
    assert "1 checkpoints, nothing new" in daemon.said
    write_checkpoint(runs / "a" / "step-2", b"5678")
    assert names(daemon.tick()) == ["a/step-2 codis+blink"]


def test_a_half_written_one_waits_until_it_is_whole(daemon: Daemon, runs: Path) -> None:
    folder = write_checkpoint(runs / "a" / "step-1", shards=2)
    shard = folder / "model-2-of-2.safetensors"
    whole = shard.read_bytes()
    shard.write_bytes(whole[:-2])
    assert daemon.tick() == []
    assert "not taken: a/step-1" in daemon.said
    assert daemon.partitions() == []
    shard.write_bytes(whole)
    assert names(daemon.tick()) == ["a/step-1 codis+blink"]


def test_a_renamed_one_keeps_its_name_and_is_not_evaluated_again(
    daemon: Daemon, runs: Path
) -> None:
    folder = write_checkpoint(runs / "a" / "step-1")
    daemon.tick()
    folder.rename(runs / "a" / "best")
    assert daemon.tick() == []
    assert daemon.partitions() == ["a/step-1"]


def test_the_same_weights_under_another_name_are_not_evaluated_again(
    daemon: Daemon, runs: Path
) -> None:
    write_checkpoint(runs / "a" / "step-1")
    daemon.tick()
    write_checkpoint(runs / "b" / "copy")
    assert daemon.tick() == []
    assert daemon.partitions() == ["a/step-1"]


def test_changed_weights_under_the_same_name_are_evaluated(daemon: Daemon, runs: Path) -> None:
    write_checkpoint(runs / "a" / "step-1", b"1234")
    before = daemon.tick()
    write_checkpoint(runs / "a" / "step-1", b"4321")
    after = daemon.tick()
    assert names(after) == names(before) == ["a/step-1 codis+blink"]
    assert after != before
    assert daemon.partitions() == ["a/step-1"]  # the overwritten one is retired


def test_a_deleted_one_retires_and_may_come_back(daemon: Daemon, runs: Path) -> None:
    folder = write_checkpoint(runs / "a" / "step-1")
    daemon.tick()
    shutil.rmtree(folder)
    assert daemon.tick() == []
    assert "retired: a/step-1@" in daemon.said
    assert daemon.partitions() == []
    write_checkpoint(folder)
    assert daemon.tick() == []
    assert daemon.partitions() == ["a/step-1"]


def test_nothing_retires_while_a_watched_folder_is_not_mounted(daemon: Daemon, runs: Path) -> None:
    write_checkpoint(runs / "a" / "step-1")
    daemon.tick()
    runs.rename(runs.parent / "elsewhere")
    assert daemon.tick() == []
    assert "is it mounted?" in daemon.said
    assert daemon.partitions() == ["a/step-1"]


def test_one_that_is_just_being_overwritten_does_not_retire(daemon: Daemon, runs: Path) -> None:
    folder = write_checkpoint(runs / "a" / "step-1")
    daemon.tick()
    (folder / "model.safetensors").write_bytes(b"")
    assert daemon.tick() == []
    assert daemon.partitions() == ["a/step-1"]


def test_other_models_are_left_alone(daemon: Daemon, instance: dg.DagsterInstance) -> None:
    instance.add_dynamic_partitions("model", ["random", "gpt@2024"])
    daemon.tick()
    assert set(instance.get_dynamic_partitions("model")) == {"random", "gpt@2024"}


def test_the_cursor_forgets_what_is_gone(daemon: Daemon, runs: Path) -> None:
    folder = write_checkpoint(runs / "a" / "step-1")
    daemon.tick()
    shutil.rmtree(folder)
    daemon.tick()
    assert json.loads(daemon.cursor or "") == {"digests": {}}
