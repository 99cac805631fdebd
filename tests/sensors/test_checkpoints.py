import shutil
from pathlib import Path

import pytest

from bench_assets.catalog import load_catalog
from bench_assets.defs.assembly import build_graph
from tests.fakes.checkpoint_files import write_checkpoint
from tests.fakes.sensor_ticks import tick_sensor
from tests.sensors.watched import Daemon, short_keys


def test_a_new_checkpoint_becomes_a_partition_and_one_run(daemon: Daemon, runs: Path) -> None:
    write_checkpoint(runs / "a" / "step-1")
    assert short_keys(daemon.tick()) == ["a/step-1 codis+blink"]
    assert daemon.partitions() == ["a/step-1"]
    assert daemon.tick() == []
    assert "nothing new (checkpoints: 1)" in daemon.skip_message
    write_checkpoint(runs / "a" / "step-2", b"5678")
    assert short_keys(daemon.tick()) == ["a/step-2 codis+blink"]


def test_a_half_written_checkpoint_is_requested_once_it_is_complete(daemon, runs):
    folder = write_checkpoint(runs / "a" / "step-1", shards=2)
    shard = folder / "model-2-of-2.safetensors"
    content = shard.read_bytes()
    shard.write_bytes(content[:-2])
    assert daemon.tick() == []
    assert "not evaluated: a/step-1" in daemon.skip_message
    assert daemon.partitions() == []
    shard.write_bytes(content)
    assert short_keys(daemon.tick()) == ["a/step-1 codis+blink"]


def test_a_renamed_checkpoint_keeps_its_partition_and_is_not_evaluated_again(daemon, runs):
    folder = write_checkpoint(runs / "a" / "step-1")
    daemon.tick()
    folder.rename(runs / "a" / "best")
    assert daemon.tick() == []
    assert daemon.partitions() == ["a/step-1"]


def test_changed_weights_under_the_same_name_are_evaluated(daemon: Daemon, runs: Path) -> None:
    write_checkpoint(runs / "a" / "step-1", b"1234")
    first_keys = daemon.tick()
    write_checkpoint(runs / "a" / "step-1", b"4321")
    second_keys = daemon.tick()
    assert short_keys(second_keys) == short_keys(first_keys) == ["a/step-1 codis+blink"]
    assert second_keys != first_keys
    assert daemon.partitions() == ["a/step-1"]  # the overwritten one is retired


@pytest.mark.parametrize("level", ["a/step-1", "a"], ids=["a checkpoint", "a whole run"])
def test_a_deleted_checkpoint_retires_and_may_come_back(daemon, runs, level):
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


def _move_watched_folder(runs: Path) -> None:
    runs.rename(runs.parent / "elsewhere")


def _empty_watched_folder(runs: Path) -> None:
    _move_watched_folder(runs)
    runs.mkdir()


def _empty_run_folder(runs: Path) -> None:
    (runs / "a").rename(runs.parent / "elsewhere")
    (runs / "a").mkdir()


def _truncate_weights(runs: Path) -> None:
    (runs / "a" / "step-1" / "model.safetensors").write_bytes(b"")


def _rename_to_invalid_key(runs: Path) -> None:
    (runs / "a" / "step-1").rename(runs / "a" / "best one")


def _save_model_into_run_folder(runs: Path) -> None:
    write_checkpoint(runs / "a", b"abcd")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_move_watched_folder, id="the watched folder is not there"),
        pytest.param(_empty_watched_folder, id="the watched folder is empty"),
        pytest.param(_empty_run_folder, id="the run's folder is empty, as an unmounted one"),
        pytest.param(_truncate_weights, id="its weights are being overwritten"),
        pytest.param(_rename_to_invalid_key, id="its new name is no valid key"),
        pytest.param(_save_model_into_run_folder, id="a model was saved into the run's root"),
    ],
)
def test_a_checkpoint_that_may_still_exist_does_not_retire(daemon, runs, change):
    write_checkpoint(runs / "a" / "step-1")
    daemon.tick()
    change(runs)
    daemon.tick()
    assert "a/step-1" in daemon.partitions()


@pytest.mark.long  # it loads the graph of CODIS
def test_the_sensor_of_the_graph_requests_a_run_of_its_job_with_all_checks(daemon, runs):
    write_checkpoint(runs / "a" / "step-1")
    settings = daemon.settings
    definitions = build_graph(settings, load_catalog(settings, only={"codis"})).definitions
    request = tick_sensor("checkpoint_folders", definitions, daemon.instance, settings.home)
    job = definitions.get_repository_def().get_job(str(request.job_name))
    steps = job.get_subset(asset_selection=frozenset(request.asset_selection or ()))
    tables = ("predictions", "judgements", "scores", "metrics")
    assert [node.name for node in steps.nodes_in_topological_order] == [
        *(f"codis__{table}{suffix}" for table in tables for suffix in ("", "_checks")),
        "codis__metrics_no_regression",
    ]
