"""Every checkpoint is evaluated once on every suite, whatever happens to it and to the daemon."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bench_assets.catalog import load_catalog
from bench_assets.defs.assembly import build_graph
from tests.fakes.checkpoint_files import write_checkpoint
from tests.fakes.sensor_ticks import tick_sensor
from tests.sensors.watched import Daemon, names


def test_a_new_checkpoint_becomes_a_partition_and_one_run(daemon: Daemon, runs: Path) -> None:
    write_checkpoint(runs / "a" / "step-1")
    assert names(daemon.tick()) == ["a/step-1 codis+blink"]
    assert daemon.partitions() == ["a/step-1"]
    assert daemon.tick() == []
    assert "1 checkpoints, nothing new" in daemon.skip_message
    write_checkpoint(runs / "a" / "step-2", b"5678")
    assert names(daemon.tick()) == ["a/step-2 codis+blink"]


def test_a_half_written_one_waits_until_it_is_whole(daemon: Daemon, runs: Path) -> None:
    folder = write_checkpoint(runs / "a" / "step-1", shards=2)
    shard = folder / "model-2-of-2.safetensors"
    whole = shard.read_bytes()
    shard.write_bytes(whole[:-2])
    assert daemon.tick() == []
    assert "not evaluated: a/step-1" in daemon.skip_message
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


def test_changed_weights_under_the_same_name_are_evaluated(daemon: Daemon, runs: Path) -> None:
    write_checkpoint(runs / "a" / "step-1", b"1234")
    before = daemon.tick()
    write_checkpoint(runs / "a" / "step-1", b"4321")
    after = daemon.tick()
    assert names(after) == names(before) == ["a/step-1 codis+blink"]
    assert after != before
    assert daemon.partitions() == ["a/step-1"]  # the overwritten one is retired


@pytest.mark.parametrize("level", ["a/step-1", "a"], ids=["a checkpoint", "a whole run"])
def test_a_deleted_one_retires_and_may_come_back(daemon: Daemon, runs: Path, level: str) -> None:
    folder = write_checkpoint(runs / "a" / "step-1")
    write_checkpoint(runs / "b" / "step-1", b"5678")
    (runs / "a" / "train.log").write_text("")
    daemon.tick()
    shutil.rmtree(runs / level)
    assert daemon.tick() == []
    assert "retired: a/step-1@" in daemon.skip_message
    assert daemon.partitions() == ["b/step-1"]
    write_checkpoint(folder)
    assert daemon.tick() == []
    assert daemon.partitions() == ["a/step-1", "b/step-1"]


def _unmounted(runs: Path) -> None:
    runs.rename(runs.parent / "elsewhere")


def _unmounted_with_its_folder_left(runs: Path) -> None:
    _unmounted(runs)
    runs.mkdir()


def _unmounted_below(runs: Path) -> None:
    (runs / "a").rename(runs.parent / "elsewhere")
    (runs / "a").mkdir()


def _half_written_again(runs: Path) -> None:
    (runs / "a" / "step-1" / "model.safetensors").write_bytes(b"")


def _renamed_to_what_is_no_key(runs: Path) -> None:
    (runs / "a" / "step-1").rename(runs / "a" / "best one")


def _sharing_its_folder_with_another(runs: Path) -> None:
    write_checkpoint(runs / "a", b"abcd")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_unmounted, id="the watched folder is not there"),
        pytest.param(_unmounted_with_its_folder_left, id="the watched folder is empty"),
        pytest.param(_unmounted_below, id="the run's folder is empty, as an unmounted one"),
        pytest.param(_half_written_again, id="it is just being overwritten"),
        pytest.param(_renamed_to_what_is_no_key, id="its name is none that can be taken now"),
        pytest.param(_sharing_its_folder_with_another, id="a model was saved into the run's root"),
    ],
)
def test_what_may_still_be_there_does_not_retire(
    daemon: Daemon, runs: Path, change: Callable[[Path], None]
) -> None:
    write_checkpoint(runs / "a" / "step-1")
    daemon.tick()
    change(runs)
    daemon.tick()
    assert "a/step-1" in daemon.partitions()


@pytest.mark.long  # it loads the graph of CODIS
def test_the_sensor_of_the_graph_requests_a_run_of_its_job_with_all_checks(
    daemon: Daemon, runs: Path
) -> None:
    write_checkpoint(runs / "a" / "step-1")
    settings = daemon.settings
    definitions = build_graph(settings, load_catalog(settings, only={"codis"})).definitions
    request = tick_sensor("checkpoint_folders", definitions, daemon.instance, settings.home)
    job = definitions.get_repository_def().get_job(str(request.job_name))
    steps = job.get_subset(asset_selection=frozenset(request.asset_selection or ()))
    tables = ("predictions", "judgements", "scores", "metrics")
    assert [node.name for node in steps.nodes_in_topological_order] == [
        *(f"codis__{table}{end}" for table in tables for end in ("", "_checks")),
        "codis__metrics_no_regression",
    ]
