import json
import sqlite3

from bench_assets.report.pages.checks import latest_outcomes


def history_file(home):
    """The database in which the Dagster instance of a home records checks."""
    file = home / "dagster" / "history" / "runs" / "index.db"
    file.parent.mkdir(parents=True)
    return file


def record_checks(home, *rows):
    """Record executions of checks, each as (asset, check, partition, event)."""
    with sqlite3.connect(history_file(home)) as db:
        db.execute(
            "CREATE TABLE asset_check_executions (id INTEGER PRIMARY KEY, asset_key TEXT,"
            " check_name TEXT, partition TEXT, evaluation_event TEXT,"
            " evaluation_event_timestamp TEXT)"
        )
        db.executemany(
            "INSERT INTO asset_check_executions VALUES (NULL, ?, ?, ?, ?, '2026-01-02 03:04')",
            [
                (json.dumps(asset.split("/")), check, partition, event)
                for asset, check, partition, event in rows
            ],
        )


def event(*, success, severity="ERROR", **numbers):
    """An event of Dagster, as JSON: the outcome of a check, with numbers as metadata."""
    metadata = {name: {"value": value} for name, value in numbers.items()}
    return json.dumps(
        {"dagster_event": {"event_specific_data": {
            "success": success, "severity": {"__enum__": f"AssetCheckSeverity.{severity}"},
            "description": None, "metadata": metadata,
        }}}
    )  # fmt: skip


def test_the_last_outcome_of_a_check_counts(tmp_path):
    record_checks(
        tmp_path,
        ("t/scores", "no_row_lost", "m", event(success=False, rows=5, problems=2)),
        ("t/scores", "no_row_lost", "m", event(success=True, rows=5, problems=0)),
    )
    (outcome,) = latest_outcomes(tmp_path)
    assert (outcome.asset, outcome.partition, outcome.passed) == ("t/scores", "m", True)
    assert outcome.sentence == "No row lost: no problem in 5 rows."


def test_a_failed_check_has_its_severity(tmp_path):
    failed = event(success=False, severity="WARN", problems=1)
    record_checks(tmp_path, ("t/questions", "well_formed", None, failed))
    (outcome,) = latest_outcomes(tmp_path)
    assert (outcome.partition, outcome.passed, outcome.severity) == ("", False, "WARN")
    assert outcome.sentence == "Well formed: 1 problem."


def test_checks_without_a_readable_event_are_left_out(tmp_path):
    record_checks(
        tmp_path, ("t/questions", "odd", None, "{not json"), ("t/questions", "planned", None, None)
    )
    assert latest_outcomes(tmp_path) == []


def test_a_home_without_a_history_has_no_outcomes(tmp_path):
    assert latest_outcomes(tmp_path) == []


def test_an_unreadable_history_has_no_outcomes(tmp_path):
    history_file(tmp_path).write_bytes(b"no database" * 100)
    assert latest_outcomes(tmp_path) == []
