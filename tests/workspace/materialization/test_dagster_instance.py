import sqlite3
import sys
from pathlib import Path

import dagster as dg
import pytest
from sqlalchemy.exc import OperationalError

from bench_assets.core.schema.errors import BenchError, HomeError, TableError
from bench_assets.workspace.materialization.dagster_instance import (
    open_instance,
    storage_error_reporting,
)
from bench_resources.runs.failures import describe_failure

# What Dagster prints for each record that it cannot store.
UNWRITTEN = "Exception while writing logger call to event log: (sqlite3.OperationalError) disk I/O"
FOLDER = Path("a home", "dagster")


def test_a_full_disk_is_one_error_that_names_the_folder(capsys):
    @storage_error_reporting(FOLDER)
    def store_record():
        sys.stderr.write(f"{UNWRITTEN} error\n(Background on this error)\n")
        raise OperationalError("insert", {}, sqlite3.OperationalError("disk I/O error"))

    with pytest.raises(HomeError, match=r"^a home/dagster: .*disk I/O error.*full"):
        store_record()
    assert capsys.readouterr().err == ""


def test_records_that_a_run_could_not_store_are_counted_in_one_warning(capsys):
    with storage_error_reporting(FOLDER):
        print("another message", file=sys.stderr)
        for _ in range(3):
            sys.stderr.write(f"{UNWRITTEN} error\n")
    assert capsys.readouterr().err == (
        "another message\n"
        "warning: a home/dagster: lines of the run's log that were not written: 3\n"
    )


NO_SERVER = "http://127.0.0.1:8080: no server is listening. Start it"


class PluginError(BenchError):
    """An error class that this project does not know."""


def make_error(error_type: type[BenchError]) -> BenchError:
    """An error with the text ``NO_SERVER``, whatever arguments its class requires."""
    error = error_type.__new__(error_type, NO_SERVER)
    Exception.__init__(error, NO_SERVER)
    return error


@pytest.mark.parametrize("error_type", [BenchError, TableError, PluginError])
def test_an_error_of_ours_is_shown_instead_of_its_cause(error_type):
    @dg.asset(key=["codis", "votes"])
    def votes():
        try:
            raise ConnectionError("[Errno 111] Connection refused")
        except ConnectionError as error:
            raise make_error(error_type) from error

    result = dg.materialize([votes], raise_on_error=False)
    assert str(describe_failure(result.all_events)) == f"codis/votes: {NO_SERVER}"


def test_any_other_error_is_shown_by_its_cause():
    @dg.asset
    def votes():
        try:
            raise ConnectionError("[Errno 111] Connection refused")
        except ConnectionError as error:
            raise RuntimeError("votes") from error

    result = dg.materialize([votes], raise_on_error=False)
    message = str(describe_failure(result.all_events))
    assert message == "votes: ConnectionError: [Errno 111] Connection refused"


def test_a_check_that_only_warned_does_not_hide_the_error():
    @dg.asset
    def questions():
        pass

    @dg.asset_check(asset=questions, blocking=True)
    def people_have_decided():
        severity = dg.AssetCheckSeverity.WARN
        return dg.AssetCheckResult(passed=False, severity=severity, metadata={"rows": 1})

    @dg.asset(deps=[questions])
    def votes():
        raise make_error(PluginError)

    assets = [questions, people_have_decided, votes]
    result = dg.materialize(assets, raise_on_error=False)
    assert str(describe_failure(result.all_events)) == f"votes: {NO_SERVER}"


def test_the_page_of_a_failed_run_shows_the_error_that_was_raised(tmp_path):
    @dg.asset
    def votes():
        raise PluginError(NO_SERVER)

    with open_instance(tmp_path) as instance:
        failed = dg.materialize([votes], instance=instance, raise_on_error=False)
        events = [record.dagster_event for record in instance.all_logs(failed.run_id)]
    (failure,) = [event.step_failure_data for event in events if event and event.is_step_failure]
    assert failure.error
    assert failure.error.message.endswith(f"PluginError: {NO_SERVER}\n")
    assert NO_SERVER in failure.error_display_string
