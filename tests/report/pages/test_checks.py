"""The last outcome of each check, as the home's Dagster instance remembers it."""

import json
import sqlite3

import pytest

from bench_assets.report.pages.checks import latest_outcomes


@pytest.fixture
def history(tmp_path):
    """A home whose Dagster instance remembers checks: (asset, check, partition, said)."""
    file = tmp_path / "dagster" / "history" / "runs" / "index.db"
    file.parent.mkdir(parents=True)

    def remember(*rows):
        with sqlite3.connect(file) as db:
            db.execute(
                "CREATE TABLE asset_check_executions (id INTEGER PRIMARY KEY, asset_key TEXT,"
                " check_name TEXT, partition TEXT, evaluation_event TEXT,"
                " evaluation_event_timestamp TEXT)"
            )
            db.executemany(
                "INSERT INTO asset_check_executions VALUES (NULL, ?, ?, ?, ?, '2026-01-02 03:04')",
                [(json.dumps(asset.split("/")), *rest) for asset, *rest in rows],
            )
        return latest_outcomes(tmp_path)

    return remember


def event(*, success, severity="ERROR", **numbers):
    metadata = {name: {"value": value} for name, value in numbers.items()}
    return json.dumps(
        {"dagster_event": {"event_specific_data": {
            "success": success, "severity": {"__enum__": f"AssetCheckSeverity.{severity}"},
            "description": None, "metadata": metadata,
        }}}
    )  # fmt: skip


def test_the_last_outcome_of_a_check_counts(history):
    found = history(
        ("t/scores", "no_row_lost", "m", event(success=False, rows=5, problems=2)),
        ("t/scores", "no_row_lost", "m", event(success=True, rows=5, problems=0)),
        ("t/questions", "well_formed", None, event(success=False, severity="WARN", problems=1)),
        ("t/questions", "odd", None, "{not json"),
        ("t/questions", "planned", None, None),
    )
    assert [
        (one.asset, one.partition, one.passed, one.severity, one.sentence) for one in found
    ] == [
        ("t/scores", "m", True, "ERROR", "No row lost: no problem in 5 rows."),
        ("t/questions", "", False, "WARN", "Well formed: 1 problem."),
    ]


def test_a_home_without_a_readable_history_has_none(tmp_path):
    assert latest_outcomes(tmp_path) == []
    file = tmp_path / "dagster" / "history" / "runs" / "index.db"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"no database" * 100)
    assert latest_outcomes(tmp_path) == []
