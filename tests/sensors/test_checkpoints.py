"""Every checkpoint is evaluated once on every suite, whatever happens to it and to the daemon."""

import json
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dagster as dg
import pytest

from bench_assets.core.errors import SettingsError
from resources.settings import Settings
from sensors.checkpoints import watch_folders
from sensors.evaluations import claim
from tests.sensors.watched import record_first_look, watching, with_questions, write_checkpoint


class Daemon:
    """Does with a tick's result what Dagster's daemon does: partitions, runs by key, cursor."""

    def __init__(self, settings: Settings, instance: dg.DagsterInstance) -> None:
        self.settings, self.instance = settings, instance
        self.cursor: str | None = None
        self.started: list[str] = []
        self.said = ""

    def tick(self) -> list[str]:
        """Run keys that were asked for."""
        result = watch_folders(self.instance, self.settings, self.cursor, time.time() + 1)
        for request in result.dynamic_partitions_requests or []:
            if isinstance(request, dg.AddDynamicPartitionsRequest):
                self.instance.add_dynamic_partitions("model", request.partition_keys)
            else:
                for key in request.partition_keys:
                    self.instance.delete_dynamic_partition("model", key)
        asked = [str(request.run_key) for request in result.run_requests or []]
        self.started += [key for key in asked if key not in self.started]
        self.cursor = result.cursor or self.cursor
        self.said = str(result.skip_reason.skip_message) if result.skip_reason else ""
        return asked

    def partitions(self) -> list[str]:
        """Names without contents."""
        keys = self.instance.get_dynamic_partitions("model")
        return sorted(key.rpartition("@")[0] for key in keys)


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield with_questions(ephemeral)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    (tmp_path / "runs").mkdir()
    return tmp_path / "runs"


@pytest.fixture
def daemon(tmp_path: Path, runs: Path, instance: dg.DagsterInstance) -> Daemon:
    return Daemon(watching(tmp_path / "home", suites='["codis", "blink"]'), instance)


def names(run_keys: list[str]) -> list[str]:
    """Run keys without contents: ``a/step-1@01234567/codis`` -> ``a/step-1 codis``."""
    return [
        f"{key.rpartition('@')[0]} {key.rpartition('@')[2].partition('/')[2]}" for key in run_keys
    ]


def test_a_new_checkpoint_becomes_a_partition_and_a_run_a_suite(daemon: Daemon, runs: Path) -> None:
    write_checkpoint(runs / "a" / "step-1")
    assert names(daemon.tick()) == ["a/step-1 codis", "a/step-1 blink"]
    assert daemon.partitions() == ["a/step-1"]
    assert daemon.tick() == []
    assert "1 checkpoints, nothing new" in daemon.said
    write_checkpoint(runs / "a" / "step-2", b"5678")
    assert names(daemon.tick()) == ["a/step-2 codis", "a/step-2 blink"]


def test_a_half_written_one_waits_until_it_is_whole(daemon: Daemon, runs: Path) -> None:
    folder = write_checkpoint(runs / "a" / "step-1", shards=2)
    shard = folder / "model-2-of-2.safetensors"
    whole = shard.read_bytes()
    shard.write_bytes(whole[:-2])
    assert daemon.tick() == []
    assert "not taken: a/step-1" in daemon.said
    assert daemon.partitions() == []
    shard.write_bytes(whole)
    assert len(daemon.tick()) == 2


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
    assert names(after) == names(before) == ["a/step-1 codis", "a/step-1 blink"]
    assert not set(after) & set(before)
    assert daemon.partitions() == ["a/step-1"]  # the overwritten one is retired


def test_a_deleted_one_retires_and_may_come_back(daemon: Daemon, runs: Path) -> None:
    folder = write_checkpoint(runs / "a" / "step-1")
    first = daemon.tick()
    shutil.rmtree(folder)
    assert daemon.tick() == []
    assert "retired: a/step-1@" in daemon.said
    assert daemon.partitions() == []
    write_checkpoint(folder)
    daemon.tick()
    assert daemon.partitions() == ["a/step-1"]
    assert daemon.started == first


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


def test_a_lost_cursor_starts_nothing_again(daemon: Daemon, runs: Path) -> None:
    write_checkpoint(runs / "a" / "step-1")
    started = daemon.tick()
    daemon.cursor = None
    daemon.tick()
    assert daemon.started == started
    assert daemon.partitions() == ["a/step-1"]


def test_of_many_ticks_at_once_one_asks(daemon: Daemon, runs: Path) -> None:
    write_checkpoint(runs / "a" / "step-1")
    ticks = [Daemon(daemon.settings, daemon.instance) for _ in range(8)]
    with ThreadPoolExecutor(8) as threads:
        asked = [key for keys in threads.map(Daemon.tick, ticks) for key in keys]
    assert sorted(names(asked)) == ["a/step-1 blink", "a/step-1 codis"]


def test_a_claim_of_a_tick_that_was_killed_is_taken_over(tmp_path: Path) -> None:
    now = time.time()
    assert claim(tmp_path, "a@0/codis", now)
    assert claim(tmp_path, "a@0/blink", now)
    assert not claim(tmp_path, "a@0/codis", now + 200)
    assert claim(tmp_path, "a@0/codis", now + 400)


def test_the_rest_follows_when_the_first_questions_are_answered(
    tmp_path: Path, runs: Path, instance: dg.DagsterInstance
) -> None:
    settings = watching(tmp_path / "home", "first = 20", suites='["codis", "journeybench"]')
    daemon = Daemon(settings, instance)
    write_checkpoint(runs / "a" / "step-1")
    assert names(daemon.tick()) == ["a/step-1 first_look/codis+journeybench"]
    assert daemon.tick() == []
    (checkpoint,) = instance.get_dynamic_partitions("model")
    record_first_look(instance, "codis", checkpoint)
    assert names(daemon.tick()) == ["a/step-1 codis"]
    record_first_look(instance, "journeybench", checkpoint)
    assert names(daemon.tick()) == ["a/step-1 journeybench"]


def test_the_first_look_goes_before_other_runs_and_covers_the_suites(
    tmp_path: Path, runs: Path, instance: dg.DagsterInstance
) -> None:
    settings = watching(tmp_path / "home", "first = 20", suites='["codis", "cogbench"]')
    write_checkpoint(runs / "a" / "step-1")
    (request,) = watch_folders(instance, settings, None, time.time() + 1).run_requests or []
    assert (request.job_name, request.tags["dagster/priority"]) == ("first_look", "1")
    asked = sorted(key.to_user_string() for key in request.asset_selection or [])
    assert asked == [
        "codis/first_look",
        "cogbench/description/first_look",
        "cogbench/vqa/first_look",
    ]


def test_nothing_starts_before_the_question_tables_are_built(
    daemon: Daemon, runs: Path, tmp_path: Path
) -> None:
    write_checkpoint(runs / "a" / "step-1")
    with dg.DagsterInstance.ephemeral() as bare:
        early = Daemon(daemon.settings, bare)
        assert early.tick() == []
        assert "no question tables of codis, blink" in early.said
        with_questions(bare)
        assert len(early.tick()) == 2


def test_a_suite_that_there_is_not_is_named(
    tmp_path: Path, runs: Path, instance: dg.DagsterInstance
) -> None:
    settings = watching(tmp_path / "home", suites='["codex"]')
    with pytest.raises(SettingsError, match="no suite 'codex'; known: codis, blink"):
        watch_folders(instance, settings, None, 0)


def test_the_cursor_forgets_what_is_gone(daemon: Daemon, runs: Path) -> None:
    folder = write_checkpoint(runs / "a" / "step-1")
    daemon.tick()
    shutil.rmtree(folder)
    daemon.tick()
    assert json.loads(daemon.cursor or "") == {"digests": {}, "requested": []}
