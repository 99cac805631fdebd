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
    record_question_tables,
    record_quick_evaluation,
    short_keys,
    suite_tables,
    watch_runs,
)


def test_an_old_checkpoint_is_evaluated_on_added_suites_only(daemon, runs, tmp_path):
    write_checkpoint(runs / "a" / "step-1")
    daemon.tick()
    daemon.settings = watch_runs(
        tmp_path / "home", suites='["codis", "multi", "blink", "cogbench"]'
    )
    write_checkpoint(runs / "a" / "step-2", b"5678")
    assert short_keys(daemon.tick()) == [
        "a/step-1 multi+cogbench",
        "a/step-2 codis+multi+blink+cogbench",
    ]
    daemon.settings = watch_runs(tmp_path / "home", suites='["blink", "codis"]')
    assert daemon.tick() == []


def test_nothing_is_requested_again_if_cursor_and_leases_are_lost(daemon, runs, tmp_path):
    write_checkpoint(runs / "a" / "step-1")
    daemon.tick()
    daemon.cursor = None
    (tmp_path / "home" / "leases.sqlite").unlink()
    assert daemon.tick() == []
    assert daemon.partitions() == ["a/step-1"]


def test_concurrent_ticks_request_each_suite_once(daemon, runs, tmp_path):
    write_checkpoint(runs / "a" / "step-1")
    with (
        dg.DagsterInstance.local_temp(str(tmp_path)) as instance,  # tables in memory get locked
        ThreadPoolExecutor(8) as threads,
    ):
        record_question_tables(instance)
        ticks = [Daemon(daemon.settings, instance) for _ in range(8)]
        keys = [key for tick_keys in threads.map(Daemon.tick, ticks) for key in tick_keys]
    suites = [suite for key in short_keys(keys) for suite in key.split()[-1].split("+")]
    assert sorted(suites) == ["blink", "codis"]


def test_a_run_leased_by_a_killed_tick_is_requested_after_five_minutes(daemon, runs, tmp_path):
    write_checkpoint(runs / "a" / "step-1")
    watch_folders(daemon.instance, daemon.settings, TABLES, cursor=None, now=time.time() + 1)
    assert daemon.tick() == []
    with closing(sqlite3.connect(tmp_path / "home" / "leases.sqlite")) as db, db:
        db.execute("UPDATE leases SET until = until - 301")
    assert short_keys(daemon.tick()) == ["a/step-1 codis+blink"]


@pytest.fixture
def quick_daemon(tmp_path: Path, runs: Path, instance: dg.DagsterInstance) -> Daemon:
    """A daemon whose checkpoint is in its quick evaluation."""
    settings = watch_runs(tmp_path / "home", "first = 20", suites='["codis", "journeybench"]')
    daemon = Daemon(settings, instance)
    write_checkpoint(runs / "a" / "step-1")
    assert short_keys(daemon.tick()) == ["a/step-1 quick_evaluation/codis+journeybench"]
    assert daemon.tick() == []
    return daemon


def finish_quick_evaluation(daemon: Daemon, *suites: str) -> None:
    (checkpoint,) = daemon.instance.get_dynamic_partitions("model")
    for suite in suites:
        record_quick_evaluation(daemon.instance, suite, checkpoint)


def test_the_full_evaluation_waits_for_the_end_of_the_quick_one(quick_daemon: Daemon) -> None:
    finish_quick_evaluation(quick_daemon, "codis")
    assert quick_daemon.tick() == []
    finish_quick_evaluation(quick_daemon, "journeybench")
    assert quick_daemon.tick() == []
    quick_daemon.end_runs()
    assert short_keys(quick_daemon.tick()) == ["a/step-1 codis+journeybench"]
    assert quick_daemon.tick() == []


def test_a_suite_waits_for_its_own_quick_evaluation(quick_daemon: Daemon) -> None:
    finish_quick_evaluation(quick_daemon, "journeybench")
    quick_daemon.end_runs()
    assert short_keys(quick_daemon.tick()) == ["a/step-1 journeybench"]
    assert quick_daemon.tick() == []
    finish_quick_evaluation(quick_daemon, "codis")
    assert short_keys(quick_daemon.tick()) == ["a/step-1 codis"]


def test_the_quick_evaluation_has_priority_and_covers_all_tasks(tmp_path, runs, instance):
    settings = watch_runs(tmp_path / "home", "first = 20", suites='["codis", "cogbench"]')
    write_checkpoint(runs / "a" / "step-1")
    result = watch_folders(instance, settings, TABLES, cursor=None, now=time.time() + 1)
    (request,) = result.run_requests or []
    assert (request.job_name, request.tags["dagster/priority"]) == ("quick_evaluation", "1")
    assets = sorted(key.to_user_string() for key in request.asset_selection or [])
    assert assets == [
        "codis/quick_evaluation",
        "cogbench/description/quick_evaluation",
        "cogbench/vqa/quick_evaluation",
    ]


def test_a_suite_is_evaluated_as_soon_as_it_has_questions(daemon, runs):
    write_checkpoint(runs / "a" / "step-1")
    with dg.DagsterInstance.ephemeral() as instance:
        daemon_without_questions = Daemon(daemon.settings, instance)
        assert daemon_without_questions.tick() == []
        assert "no question tables of codis, blink yet" in daemon_without_questions.skip_message
        record_question_tables(instance, "codis")
        assert short_keys(daemon_without_questions.tick()) == ["a/step-1 codis"]
        assert daemon_without_questions.tick() == []
        assert "no question tables of blink yet" in daemon_without_questions.skip_message
        record_question_tables(instance, "blink")
        assert short_keys(daemon_without_questions.tick()) == ["a/step-1 blink"]


def test_a_suite_that_is_not_installed_is_left_out(tmp_path, runs, instance):
    settings = watch_runs(tmp_path / "home", suites='["codex", "codis"]')
    write_checkpoint(runs / "a" / "step-1")
    assert short_keys(Daemon(settings, instance).tick()) == ["a/step-1 codis"]


QUIZZES = [TASK, replace(TASK, name="riddles")]


@pytest.fixture
def loaded_folders(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Folders of the checkpoints whose weights were loaded, one entry for each load."""
    from transformers import AutoModelForImageTextToText

    folders, load = [], AutoModelForImageTextToText.from_pretrained

    def load_and_record(folder, **options):
        folders.append(str(folder))
        return load(folder, **options)

    monkeypatch.setattr(AutoModelForImageTextToText, "from_pretrained", load_and_record)
    return folders


@pytest.mark.long
def test_one_run_over_several_suites_loads_the_weights_once(tmp_path, loaded_folders):
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
    evaluation = CheckpointEvaluation(
        job=EVALUATION_JOB, checkpoint=checkpoint, suites=["quiz", "riddles"]
    )
    tables = {}
    for task in QUIZZES:
        per_model = [asset for asset in evaluation_assets(task) if asset.partitions_def]
        tables[task.name] = suite_tables([task], [key for asset in per_model for key in asset.keys])
    (request,) = run_requests([evaluation], tables, lambda _: True)
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions(str(MODELS.name), [checkpoint])
        for task in QUIZZES:
            defs.resolve_implicit_global_asset_job_def().execute_in_process(
                asset_selection=[dg.AssetKey([task.name, "questions"])], instance=instance
            )
        result = defs.resolve_job_def(EVALUATION_JOB).execute_in_process(
            instance=instance,
            partition_key=request.partition_key,
            asset_selection=request.asset_selection,
        )
    steps = [event.step_key or "" for event in result.all_events if event.is_step_success]
    # All predictions come before anything that may load a judge in place of the model.
    assert sorted(steps[:2]) == ["quiz__predictions", "riddles__predictions"]
    assert len(steps) == 6  # predictions, scores and metrics of both suites
    assert loaded_folders == [str(folder)]
