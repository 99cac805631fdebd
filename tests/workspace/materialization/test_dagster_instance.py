"""A disk that fills in the middle of a run: one message that names the place."""

import sqlite3
import sys
from pathlib import Path
from uuid import uuid4

import dagster as dg
import pytest
from sqlalchemy.exc import OperationalError

from bench_assets.core.schema.errors import HomeError
from bench_assets.workspace.materialization.dagster_instance import (
    open_instance,
    storage_error_reporting,
)

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


def test_a_run_records_what_its_steps_make_and_not_that_they_read_and_wrote_it(tmp_path):
    @dg.asset
    def read() -> int:
        return 1

    @dg.asset
    def made(read: int) -> int:
        return read + 1

    kinds, run = [], str(uuid4())
    with open_instance(tmp_path) as instance:
        instance.add_event_listener(run, lambda entry: kinds.append(entry.dagster_event_type))
        resources = {"io_manager": dg.mem_io_manager}
        job = dg.Definitions(
            [read, made], resources=resources
        ).resolve_implicit_global_asset_job_def()
        job.execute_in_process(instance=instance, run_id=run)
    assert kinds.count(dg.DagsterEventType.STEP_OUTPUT) == 2
    kind = dg.DagsterEventType
    assert not {kind.STEP_INPUT, kind.LOADED_INPUT, kind.HANDLED_OUTPUT} & {*kinds}
