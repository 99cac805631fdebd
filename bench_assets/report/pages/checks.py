"""Results of asset checks, for the pages of numbers."""

import json
import logging
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bench_assets.core.schema.errors import HomeError
from bench_assets.core.text.escaping import unescape_markdown
from bench_resources.storage.sqlite import describe_sqlite_errors, open_read_only

_LOG = logging.getLogger("bench_assets.report")
_LATEST = """
    SELECT asset_key, check_name, partition, evaluation_event, evaluation_event_timestamp
    FROM asset_check_executions WHERE evaluation_event IS NOT NULL ORDER BY id
"""
_IF_UNREADABLE = "the report has no check results"


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """Last outcome of an asset check."""

    asset: str  # "codis/scores"
    check: str
    partition: str
    passed: bool
    severity: str  # "ERROR" or "WARN"
    sentence: str
    examples: list[str]
    when: str


def latest_outcomes(home: Path) -> list[CheckOutcome]:
    """Read the last outcome of every check; on failure, log it and return none."""
    file = home / "dagster" / "history" / "runs" / "index.db"
    if not file.is_file():
        return []
    try:
        with describe_sqlite_errors(file, _IF_UNREADABLE), open_read_only(file) as db:
            rows = db.execute(_LATEST).fetchall()
    except (HomeError, sqlite3.Error) as error:
        _LOG.warning("%s", error)
        return []
    latest = {(row.asset, row.check, row.partition): row for row in map(_CheckRow._make, rows)}
    outcomes = map(_parse_outcome, latest.values())
    return [outcome for outcome in outcomes if outcome]


class _CheckRow(NamedTuple):
    """A row of ``_LATEST``."""

    asset: str  # a JSON list of the parts of its key
    check: str
    partition: str | None
    event: str  # JSON
    timestamp: str


def _parse_outcome(row: _CheckRow) -> CheckOutcome | None:
    """The outcome in a row; None if another version of Dagster wrote it."""
    try:
        result = json.loads(row.event)["dagster_event"]["event_specific_data"]
        return CheckOutcome(
            asset="/".join(json.loads(row.asset)),
            check=row.check,
            partition=row.partition or "",
            passed=bool(result["success"]),
            severity=result["severity"]["__enum__"].rpartition(".")[-1],
            sentence=sentence(row.check, result),
            examples=_examples(result),
            when=str(row.timestamp)[:16],  # to the minute
        )
    except (ValueError, RecursionError, KeyError, TypeError):
        return None


def sentence(check: str, result: Mapping[str, Any]) -> str:
    """Describe the result of a check in a sentence.

    >>> numbers = {"rows": {"value": 80}, "problems": {"value": 0}}
    >>> sentence("no_row_lost", {"success": True, "metadata": numbers})
    'No row lost: no problem in 80 rows.'
    """
    words = check.replace("_", " ").capitalize()
    if result.get("description"):
        return f"{words}: {result['description']}"
    numbers = {name: value.get("value") for name, value in (result.get("metadata") or {}).items()}
    rows, problems = numbers.get("rows"), numbers.get("problems")
    scope = f" in {rows} rows" if isinstance(rows, int) else ""
    if result.get("success"):
        return f"{words}: no problem{scope}."
    n = problems if isinstance(problems, int) else "some"
    noun = "problem" if n == 1 else "problems"
    return f"{words}: {n} {noun}{scope}."


def _examples(result: Mapping[str, Any]) -> list[str]:
    """The examples of a check, which Dagster stores as a Markdown list."""
    markdown = (result.get("metadata") or {}).get("examples", {}).get("md_str") or ""
    lines = str(markdown).splitlines()
    return [unescape_markdown(line.removeprefix("- ")) for line in lines if line]
