"""A checkpoint is evaluated on every suite once, after its quick evaluation."""

import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest

from bench_assets.asset_factory.evaluation_assets import evaluation_assets
from bench_assets.asset_factory.suite_assets import MODELS
from bench_resources.checkpoints.identity import fingerprint
from bench_sensors.checkpoints import watch_folders
from bench_sensors.evaluations import EVALUATION_JOB, CheckpointEvaluation, run_requests
from tests.fakes.checkpoint_files import write_checkpoint
from tests.fakes.quiz import TASK, questions_asset, quiz, resources_over
from tests.fakes.tiny_checkpoint import save_tiny_vlm
from tests.sensors.watched import (
    TABLES,
    Daemon,
    names,
    record_quick_evaluation,
    tables_of_suite,
    watching,
    with_questions,
)


def test_a_suite_that_is_added_later_is_all_that_old_checkpoints_get(
    daemon: Daemon, runs: Path, tmp_path: Path
) -> None:
    write_checkpoint(runs / "a" / "step-1")
    daemon.tick()
    daemon.settings = watching(tmp_path / "home", suites='["codis", "multi", "blink", "cogbench"]')
    write_checkpoint(runs / "a" / "step-2", b"5678")
    assert names(daemon.tick()) == [
        "a/step-1 multi+cogbench",
        "a/step-2 codis+multi+blink+cogbench",
    ]
    daemon.settings = watching(tmp_path / "home", suites='["blink", "codis"]')
    assert daemon.tick() == []


def test_without_cursor_and_claims_nothing_is_requested_again(
    daemon: Daemon, runs: Path, tmp_path: Path
) -> None:
    write_checkpoint(runs / "a" / "step-1")
    daemon.tick()
    daemon.cursor = None
    (tmp_path / "home" / "leases.sqlite").unlink()
    assert daemon.tick() == []
    assert daemon.partitions() == ["a/step-1"]


def test_of_many_ticks_at_once_one_asks(daemon: Daemon, runs: Path, tmp_path: Path) -> None:
    write_checkpoint(runs / "a" / "step-1")
    with (
        dg.DagsterInstance.local_temp(str(tmp_path)) as instance,  # in memory: locked tables
        ThreadPoolExecutor(8) as threads,
    ):
        with_questions(instance)
        ticks = [Daemon(daemon.settings, instance) for _ in range(8)]
        keys = [key for tick_keys in threads.map(Daemon.tick, ticks) for key in tick_keys]
    suites = [suite for key in keys for suite in key.split("/")[-2].split("+")]
    assert sorted(suites) == ["blink", "codis"]


def test_what_a_killed_tick_had_claimed_is_requested_minutes_later(
    daemon: Daemon, runs: Path, tmp_path: Path
) -> None:
    write_checkpoint(runs / "a" / "step-1")
    watch_folders(daemon.instance, daemon.settings, TABLES, None, time.time() + 1)
    assert daemon.tick() == []
    with closing(sqlite3.connect(tmp_path / "home" / "leases.sqlite")) as db, db:
        db.execute("UPDATE leases SET until = until - 301")
    assert names(daemon.tick()) == ["a/step-1 codis+blink"]


@pytest.fixture
def looking(tmp_path: Path, runs: Path, instance: dg.DagsterInstance) -> Daemon:
    """One whose checkpoint is at its quick evaluation."""
    settings = watching(tmp_path / "home", "first = 20", suites='["codis", "journeybench"]')
    daemon = Daemon(settings, instance)
    write_checkpoint(runs / "a" / "step-1")
    assert names(daemon.tick()) == ["a/step-1 quick_evaluation/codis+journeybench"]
    assert daemon.tick() == []
    return daemon


def looked(daemon: Daemon, *suites: str) -> None:
    """A checkpoint answered the first questions of some suites."""
    (checkpoint,) = daemon.instance.get_dynamic_partitions("model")
    for suite in suites:
        record_quick_evaluation(daemon.instance, suite, checkpoint)


def test_one_run_over_the_rest_follows_when_the_quick_evaluation_is_over(looking: Daemon) -> None:
    looked(looking, "codis")
    assert looking.tick() == []
    looked(looking, "journeybench")
    assert looking.tick() == []
    looking.end_runs()
    assert names(looking.tick()) == ["a/step-1 codis+journeybench"]
    assert looking.tick() == []


def test_a_suite_whose_quick_evaluation_failed_follows_when_it_is_repaired(
    looking: Daemon,
) -> None:
    looked(looking, "journeybench")
    looking.end_runs()
    assert names(looking.tick()) == ["a/step-1 journeybench"]
    assert looking.tick() == []
    looked(looking, "codis")
    assert names(looking.tick()) == ["a/step-1 codis"]


def test_the_quick_evaluation_goes_before_other_runs_and_covers_the_suites(
    tmp_path: Path, runs: Path, instance: dg.DagsterInstance
) -> None:
    settings = watching(tmp_path / "home", "first = 20", suites='["codis", "cogbench"]')
    write_checkpoint(runs / "a" / "step-1")
    result = watch_folders(instance, settings, TABLES, None, time.time() + 1)
    (request,) = result.run_requests or []
    assert (request.job_name, request.tags["dagster/priority"]) == ("quick_evaluation", "1")
    assets = sorted(key.to_user_string() for key in request.asset_selection or [])
    assert assets == [
        "codis/quick_evaluation",
        "cogbench/description/quick_evaluation",
        "cogbench/vqa/quick_evaluation",
    ]


def test_nothing_starts_before_the_question_tables_are_built(
    daemon: Daemon, runs: Path, tmp_path: Path
) -> None:
    write_checkpoint(runs / "a" / "step-1")
    with dg.DagsterInstance.ephemeral() as bare:
        early = Daemon(daemon.settings, bare)
        assert early.tick() == []
        assert "no question tables of codis, blink" in early.skip_message
        with_questions(bare)
        assert names(early.tick()) == ["a/step-1 codis+blink"]


def test_a_suite_that_is_not_installed_stops_the_evaluation_of_no_other(
    tmp_path: Path, runs: Path, instance: dg.DagsterInstance
) -> None:
    settings = watching(tmp_path / "home", suites='["codex", "codis"]')
    write_checkpoint(runs / "a" / "step-1")
    assert names(Daemon(settings, instance).tick()) == ["a/step-1 codis"]


QUIZZES = [TASK, replace(TASK, name="riddles")]


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every time that weights are loaded, by folder."""
    from transformers import AutoModelForImageTextToText

    loaded, load = [], AutoModelForImageTextToText.from_pretrained

    def counted(folder, **options):
        loaded.append(str(folder))
        return load(folder, **options)

    monkeypatch.setattr(AutoModelForImageTextToText, "from_pretrained", counted)
    return loaded


@pytest.mark.long
def test_one_run_over_several_suites_loads_the_weights_once(
    tmp_path: Path, loads: list[str]
) -> None:
    folder = save_tiny_vlm(tmp_path / "runs" / "a" / "step-1")
    (tmp_path / "bench.toml").write_text(
        '[checkpoints]\nfolders = ["runs"]\nlike = "base"\n'
        '[models.base]\nkind = "transformers"\npath = "x"\nmax_tokens = 2\n'
    )
    assets = [asset for task in QUIZZES for asset in evaluation_assets(task)]
    defs = dg.Definitions(
        assets=[*assets, *(questions_asset(quiz(5), task.name) for task in QUIZZES)],
        jobs=[dg.define_asset_job(EVALUATION_JOB, assets)],
        executor=dg.in_process_executor,
        resources=resources_over(tmp_path),
    )
    checkpoint = f"a/step-1@{fingerprint(folder)}"
    wanted = CheckpointEvaluation(
        job=EVALUATION_JOB, checkpoint=checkpoint, suites=["quiz", "riddles"]
    )
    tables = {
        task.name: tables_of_suite(
            [task], [k for a in evaluation_assets(task) if a.partitions_def for k in a.keys]
        )
        for task in QUIZZES
    }
    (request,) = run_requests([wanted], tables, lambda _: True)
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions(str(MODELS.name), [checkpoint])
        for task in QUIZZES:
            defs.resolve_implicit_global_asset_job_def().execute_in_process(
                asset_selection=[dg.AssetKey([task.name, "questions"])], instance=instance
            )
        done = defs.resolve_job_def(EVALUATION_JOB).execute_in_process(
            instance=instance,
            partition_key=request.partition_key,
            asset_selection=request.asset_selection,
        )
    steps = [event.step_key or "" for event in done.all_events if event.is_step_success]
    # All predictions come before anything that may load a judge in place of the model.
    assert sorted(steps[:2]) == ["quiz__predictions", "riddles__predictions"]
    assert len(steps) == 6
    assert loads == [str(folder)]
