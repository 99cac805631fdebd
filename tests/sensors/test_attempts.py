"""A checkpoint without a number is requested again, with pauses, and named until it has one."""

import re
from pathlib import Path

import dagster as dg
import pytest

from bench_sensors.checkpoints import describe_missing
from tests.fakes.checkpoint_files import write_checkpoint
from tests.sensors.watched import CATALOG, TABLES, Daemon, names, record, watching, with_questions

HOUR, DAY = 3600.0, 86_400.0


@pytest.fixture
def requested(daemon: Daemon, runs: Path) -> Daemon:
    """One that has requested the first attempt."""
    write_checkpoint(runs / "a" / "step-1")
    assert names(daemon.tick()) == ["a/step-1 codis+blink"]
    return daemon


def newest(daemon: Daemon) -> dg.DagsterRun:
    return daemon.instance.get_runs(limit=1)[0]


def fail(daemon: Daemon) -> None:
    daemon.instance.report_run_failed(newest(daemon))


def evaluate(daemon: Daemon, *suites: str) -> None:
    (checkpoint,) = daemon.instance.get_dynamic_partitions("model")
    for suite in suites:
        for key in TABLES[suite].metrics:
            record(daemon.instance, key, checkpoint)


def test_a_failed_evaluation_is_requested_until_there_is_a_number(requested: Daemon) -> None:
    for attempt, pause in ((2, 600), (3, 1200)):
        fail(requested)
        assert requested.tick(pause - 60) == []
        assert "a/step-1@" in requested.skip_message
        assert "on codis, blink: no number:" in requested.skip_message
        assert names(requested.tick(pause + 1)) == [f"a/step-1 codis+blink/{attempt}"]
        assert requested.tick(9 * HOUR) == []
        assert "a run is under way" in requested.skip_message
    evaluate(requested, "codis", "blink")
    requested.end_runs()
    assert requested.tick(9 * HOUR) == []
    assert requested.skip_message == "1 checkpoints, nothing new"
    assert len(requested.instance.get_runs()) == 3


def test_a_day_has_five_attempts(requested: Daemon) -> None:
    pauses = [600, 1200, 2400, 4800]
    for attempt, pause in enumerate(pauses, start=2):
        fail(requested)
        assert names(requested.tick(pause + 1)) == [f"a/step-1 codis+blink/{attempt}"]
    fail(requested)
    assert requested.tick(DAY - 60) == []
    assert "tried 5 times, next " in requested.skip_message
    assert names(requested.tick(DAY + 1)) == ["a/step-1 codis+blink/6"]


def test_a_cancelled_evaluation_is_named_and_left_to_people(requested: Daemon) -> None:
    requested.instance.report_run_canceled(newest(requested))
    assert requested.tick(30 * DAY) == []
    assert "no number: cancelled: start it in the UI, or delete the run" in requested.skip_message
    requested.instance.delete_run(newest(requested).run_id)
    assert names(requested.tick(601)) == ["a/step-1 codis+blink/2"]


def test_dagsters_own_retry_of_a_killed_run_is_waited_for(requested: Daemon) -> None:
    killed = newest(requested)
    requested.instance.add_run_tags(killed.run_id, {"dagster/will_retry": "true"})
    fail(requested)
    assert requested.tick(DAY) == []
    assert "Dagster tries it again" in requested.skip_message
    retried = {**killed.tags, "dagster/run_key": "of Dagster"}
    request = dg.RunRequest(
        run_key="of Dagster", job_name=killed.job_name, tags=retried,
        partition_key=killed.tags["dagster/partition"],
        asset_selection=[*(killed.asset_selection or ())],
    )  # fmt: skip
    requested.start(request)
    tags = {"dagster/auto_retry_run_id": newest(requested).run_id}
    requested.instance.add_run_tags(killed.run_id, tags)
    assert requested.tick(DAY) == []
    fail(requested)
    assert names(requested.tick(601)) == ["a/step-1 codis+blink/2"]


def test_what_a_person_started_is_not_requested_beside_it(requested: Daemon) -> None:
    by_hand = dg.RunRequest(
        run_key="by hand", job_name="evaluate_blink", asset_selection=[*TABLES["blink"].outputs],
        partition_key=newest(requested).tags["dagster/partition"],
    )  # fmt: skip
    fail(requested)
    requested.start(by_hand)
    assert names(requested.tick(601)) == ["a/step-1 codis/2"]


def test_what_has_no_number_is_described_for_leaderboard_and_report(
    tmp_path: Path, runs: Path
) -> None:
    settings = watching(tmp_path / "home", suites='["codis", "blink"]')
    write_checkpoint(runs / "a" / "step-1")
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:  # cursors are read
        daemon = Daemon(settings, with_questions(instance))
        daemon.tick()
        evaluate(daemon, "blink")
        fail(daemon)
        (line,) = describe_missing(instance, settings, CATALOG.suites)
        assert re.fullmatch(
            r"a/step-1@\w{8} on codis: no number: .+, tried once, next .*\d\d:\d\d", line
        )
        evaluate(daemon, "codis")
        assert describe_missing(instance, settings, CATALOG.suites) == []
        unknown = watching(tmp_path / "home", suites='["codex"]')
        (line,) = describe_missing(instance, unknown, CATALOG.suites)
        assert "no suite 'codex'" in line
