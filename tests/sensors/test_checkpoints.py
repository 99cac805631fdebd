"""Every checkpoint is evaluated once on every suite, whatever happens to it and to the daemon."""

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import dagster as dg
import pytest
from huggingface_hub import HfApi

from bench_resources.config.bench_toml import Settings, load_settings
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.models.registry.named_models import resolve_name
from bench_sensors.checkpoints import watch_hub
from tests.fakes.checkpoint_files import write_checkpoint
from tests.fakes.hub import NEW, OLD, running_hub
from tests.sensors.watched import TABLES, Daemon, names


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


@pytest.fixture
def hub() -> Iterator[HfApi]:
    with running_hub() as api:
        yield api


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "bench.toml").write_text(
        '[checkpoints]\nrepositories = ["org/vlm"]\nsuites = ["codis", "blink"]\n'
    )
    return load_settings(tmp_path)


def test_revisions_become_partitions_and_runs(
    settings: Settings, instance: dg.DagsterInstance, hub: HfApi
) -> None:
    instance.add_dynamic_partitions("model", [f"org/vlm/old-name@{OLD}"])
    result = watch_hub(instance, settings, TABLES, None, hub, time.time())
    assert [request.run_key for request in result.run_requests or []] == [
        f"org/vlm/old-name@{OLD}/codis+blink/1",
        f"org/vlm/step-1000@{NEW}/codis+blink/1",
    ]
    (added,) = result.dynamic_partitions_requests or []
    assert added.partition_keys == [f"org/vlm/step-1000@{NEW}"]
    spec = resolve_name(f"org/vlm/step-1000@{NEW}", settings).spec
    assert isinstance(spec, TransformersSpec)
    assert (spec.path, spec.revision) == ("org/vlm", NEW)


GONE = "e" * 40


@pytest.mark.parametrize(
    ("key", "retires"),
    [
        pytest.param(f"org/vlm/step-800@{GONE}", True, id="its tag was deleted"),
        pytest.param(f"org/vlm/main@{GONE}", False, id="its branch went on"),
        pytest.param(f"org/vlm/old-name@{OLD}", False, id="another tag is at its commit"),
        pytest.param(f"org/other/step-1@{GONE}", False, id="its repository is not watched"),
    ],
)
def test_a_revision_retires_when_somebody_took_it_back(
    settings: Settings, instance: dg.DagsterInstance, hub: HfApi, key: str, retires: bool
) -> None:
    instance.add_dynamic_partitions("model", [key])
    assert retired(watch_hub(instance, settings, TABLES, None, hub, time.time())) == (
        [key] if retires else []
    )


@pytest.mark.parametrize(
    ("repository", "endpoint"),
    [
        pytest.param("org/nothing", "", id="the hub does not list the repository"),
        pytest.param("org/vlm", "http://127.0.0.1:9", id="there is no network"),
    ],
)
def test_what_the_hub_does_not_list_does_not_retire(
    settings: Settings, instance: dg.DagsterInstance, hub: HfApi, repository: str, endpoint: str
) -> None:
    text = settings.file.read_text().replace("org/vlm", repository)
    settings.file.write_text(text)
    instance.add_dynamic_partitions("model", [f"{repository}/step-800@{GONE}"])
    api = HfApi(endpoint=endpoint, token=False) if endpoint else hub
    result = watch_hub(instance, load_settings(settings.home), TABLES, None, api, time.time())
    assert retired(result) == []
    assert result.skip_reason is not None
    assert "the hub does not list it" in str(result.skip_reason.skip_message)


def retired(result: dg.SensorResult) -> list[str]:
    """Partitions that are to go."""
    return [
        key
        for change in result.dynamic_partitions_requests or []
        if isinstance(change, dg.DeleteDynamicPartitionsRequest)
        for key in change.partition_keys
    ]
