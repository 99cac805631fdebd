"""A disk that fills in the middle of a run: one message that names the place."""

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

UNWRITTEN = "Exception while writing logger call to event log: (sqlite3.OperationalError) disk I/O"
PLACE = Path("a home", "dagster")


def test_what_dagster_prints_of_each_record_is_kept_back_and_the_error_names_the_place(capsys):
    full = OperationalError("insert", {}, sqlite3.OperationalError("disk I/O error"))

    @storage_error_reporting(PLACE)
    def record():
        sys.stderr.write(f"{UNWRITTEN} error\n(Background on this error)\n")
        raise full

    with pytest.raises(HomeError, match=r"^a home/dagster: .*disk I/O error.*full"):
        record()
    assert capsys.readouterr().err == ""


def test_a_run_that_goes_on_without_some_records_says_so_once(capsys):
    with storage_error_reporting(PLACE):
        print("of somebody else", file=sys.stderr)
        for _ in range(3):
            sys.stderr.write(f"{UNWRITTEN} error\n")
    assert capsys.readouterr().err == (
        "of somebody else\nwarning: a home/dagster: 3 lines of the run's log could not be written\n"
    )


# What a person reads of a run that failed: our own error where one was raised, else the first.


NO_SERVER = "http://127.0.0.1:8080: no server is listening. Start it"


class OfAPluginError(BenchError):
    """An error class that this project does not know."""


def raised(kind: type[BenchError]) -> BenchError:
    """An error whose text is as given, whatever else its class is made with."""
    error = kind.__new__(kind, NO_SERVER)
    Exception.__init__(error, NO_SERVER)
    return error


@pytest.mark.parametrize("kind", [BenchError, TableError, OfAPluginError])
def test_an_error_of_ours_is_shown_and_not_what_it_came_of(kind):
    @dg.asset(key=["codis", "votes"])
    def votes():
        try:
            raise ConnectionError("[Errno 111] Connection refused")
        except ConnectionError as error:
            raise raised(kind) from error

    result = dg.materialize([votes], raise_on_error=False)
    assert str(describe_failure(result.all_events)) == f"codis/votes: {NO_SERVER}"


def test_another_error_is_shown_by_what_it_came_of():
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
        warned = dg.AssetCheckSeverity.WARN
        return dg.AssetCheckResult(passed=False, severity=warned, metadata={"rows": 1})

    @dg.asset(deps=[questions])
    def votes():
        raise raised(OfAPluginError)

    assets = [questions, people_have_decided, votes]
    result = dg.materialize(assets, raise_on_error=False)
    assert str(describe_failure(result.all_events)) == f"votes: {NO_SERVER}"


def test_the_page_of_a_failed_run_begins_with_the_error_that_was_raised(tmp_path):
    @dg.asset
    def votes():
        raise OfAPluginError(NO_SERVER)

    with open_instance(tmp_path) as instance:
        failed = dg.materialize([votes], instance=instance, raise_on_error=False)
        logged = [entry.dagster_event for entry in instance.all_logs(failed.run_id)]
    (data,) = [event.step_failure_data for event in logged if event and event.is_step_failure]
    assert data.error
    assert data.error.message.endswith(f"OfAPluginError: {NO_SERVER}\n")
    assert NO_SERVER in data.error_display_string
