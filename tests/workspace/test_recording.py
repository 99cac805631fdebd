"""A disk that fills in the middle of a run: one message that names the place."""

import sqlite3
import sys
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from bench_assets.core.schema.errors import HomeError
from bench_assets.workspace.materialization.dagster_instance import storage_error_reporting

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
