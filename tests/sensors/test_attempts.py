import re
from pathlib import Path

import dagster as dg
import pytest

from bench_sensors.checkpoints import describe_missing
from tests.fakes.checkpoint_files import write_checkpoint
from tests.sensors.watched import (
    CATALOG,
    TABLES,
    Daemon,
    record_materialization,
    record_question_tables,
    short_keys,
    watch_runs,
)

HOUR, DAY = 3600.0, 86_400.0


@pytest.fixture
def requested_daemon(daemon: Daemon, runs: Path) -> Daemon:
    """A daemon that has requested the first attempt at a checkpoint."""
    write_checkpoint(runs / "a" / "step-1")
    assert short_keys(daemon.tick()) == ["a/step-1 codis+blink"]
    return daemon


def newest_run(daemon: Daemon) -> dg.DagsterRun:
    return daemon.instance.get_runs(limit=1)[0]


def fail_newest_run(daemon: Daemon) -> None:
    daemon.instance.report_run_failed(newest_run(daemon))


def record_metrics(daemon: Daemon, *suites: str) -> None:
    (checkpoint,) = daemon.instance.get_dynamic_partitions("model")
    for suite in suites:
        for key in TABLES[suite].metrics:
            record_materialization(daemon.instance, key, checkpoint)


def test_a_failed_evaluation_is_requested_again_until_it_has_metrics(requested_daemon):
    for attempt, pause in ((2, 600), (3, 1200)):
        fail_newest_run(requested_daemon)
        assert requested_daemon.tick(pause - 60) == []
        assert "a/step-1@" in requested_daemon.skip_message
        assert "on codis, blink: no number:" in requested_daemon.skip_message
        assert short_keys(requested_daemon.tick(pause + 1)) == [f"a/step-1 codis+blink/{attempt}"]
        assert requested_daemon.tick(9 * HOUR) == []
        assert "a run is under way" in requested_daemon.skip_message
    record_metrics(requested_daemon, "codis", "blink")
    requested_daemon.end_runs()
    assert requested_daemon.tick(9 * HOUR) == []
    assert requested_daemon.skip_message == "nothing new (checkpoints: 1)"


def test_an_evaluation_is_attempted_five_times_a_day(requested_daemon: Daemon) -> None:
    pauses = [600, 1200, 2400, 4800]
    for attempt, pause in enumerate(pauses, start=2):
        fail_newest_run(requested_daemon)
        assert short_keys(requested_daemon.tick(pause + 1)) == [f"a/step-1 codis+blink/{attempt}"]
    fail_newest_run(requested_daemon)
    assert requested_daemon.tick(DAY - 60) == []
    assert "tried 5 times, next " in requested_daemon.skip_message
    assert short_keys(requested_daemon.tick(DAY + 1)) == ["a/step-1 codis+blink/6"]


def test_a_cancelled_evaluation_is_reported_and_not_requested_again(requested_daemon):
    requested_daemon.instance.report_run_canceled(newest_run(requested_daemon))
    assert requested_daemon.tick(30 * DAY) == []
    assert (
        "no number: cancelled: start it in the UI, or delete the run"
        in requested_daemon.skip_message
    )

    requested_daemon.instance.delete_run(newest_run(requested_daemon).run_id)
    assert short_keys(requested_daemon.tick(601)) == ["a/step-1 codis+blink/2"]


def test_no_run_is_requested_while_dagster_retries_a_killed_one(requested_daemon: Daemon) -> None:
    killed = newest_run(requested_daemon)
    requested_daemon.instance.add_run_tags(killed.run_id, {"dagster/will_retry": "true"})
    fail_newest_run(requested_daemon)
    assert requested_daemon.tick(DAY) == []
    assert "Dagster tries it again" in requested_daemon.skip_message
    retried = {**killed.tags, "dagster/run_key": "of Dagster"}
    request = dg.RunRequest(
        run_key="of Dagster", job_name=killed.job_name, tags=retried,
        partition_key=killed.tags["dagster/partition"],
        asset_selection=[*(killed.asset_selection or ())],
    )  # fmt: skip
    requested_daemon.start(request)
    tags = {"dagster/auto_retry_run_id": newest_run(requested_daemon).run_id}
    requested_daemon.instance.add_run_tags(killed.run_id, tags)
    assert requested_daemon.tick(DAY) == []
    fail_newest_run(requested_daemon)
    assert short_keys(requested_daemon.tick(601)) == ["a/step-1 codis+blink/2"]


def test_a_suite_whose_run_was_started_by_hand_is_not_requested(requested_daemon: Daemon) -> None:
    by_hand = dg.RunRequest(
        run_key="by hand", job_name="evaluate_blink", asset_selection=[*TABLES["blink"].outputs],
        partition_key=newest_run(requested_daemon).tags["dagster/partition"],
    )  # fmt: skip
    fail_newest_run(requested_daemon)
    requested_daemon.start(by_hand)
    assert short_keys(requested_daemon.tick(601)) == ["a/step-1 codis/2"]


def test_a_checkpoint_without_metrics_is_described(tmp_path: Path, runs: Path) -> None:
    settings = watch_runs(tmp_path / "home", suites='["codis", "blink"]')
    write_checkpoint(runs / "a" / "step-1")
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:  # cursors are read
        daemon = Daemon(settings, record_question_tables(instance))
        daemon.tick()
        record_metrics(daemon, "blink")
        fail_newest_run(daemon)
        (line,) = describe_missing(instance, settings, CATALOG.suites)
        assert re.fullmatch(
            r"a/step-1@\w{8} on codis: no number: .+, tried once, next .*\d\d:\d\d", line
        )
        record_metrics(daemon, "codis")
        assert describe_missing(instance, settings, CATALOG.suites) == []


def test_an_unknown_suite_is_described(tmp_path: Path) -> None:
    settings = watch_runs(tmp_path / "home", suites='["codex"]')
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        (line,) = describe_missing(instance, settings, CATALOG.suites)
    assert "no suite 'codex'" in line
