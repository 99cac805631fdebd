"""Results of asset checks, for the pages of numbers."""

import json
import logging
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    latest = {(asset, check, partition): rest for asset, check, partition, *rest in rows}
    return list(_outcomes(latest))


def _outcomes(latest: Mapping[tuple[str, str, str], list[str]]) -> Iterator[CheckOutcome]:
    for (asset, check, partition), (event, timestamp) in latest.items():
        try:
            event_data = json.loads(event)["dagster_event"]["event_specific_data"]
            key = "/".join(json.loads(asset))
            yield CheckOutcome(
                key, check, partition or "", bool(event_data["success"]),
                event_data["severity"]["__enum__"].rpartition(".")[2], sentence(check, event_data),
                _examples(event_data), str(timestamp)[:16],
            )  # fmt: skip
        except (
            ValueError,
            RecursionError,
            KeyError,
            TypeError,
        ):  # written by another version of Dagster
            continue


def sentence(check: str, result: Mapping[str, Any]) -> str:
    """Describe the result of a check in a sentence.

    >>> numbers = {"rows": {"value": 80}, "problems": {"value": 0}}
    >>> sentence("no_row_lost", {"success": True, "metadata": numbers})
    'No row lost: no problem in 80 rows.'
    """
    words = check.replace("_", " ").capitalize()
    if result.get("description"):
        return f"{words}: {result['description']}"
    numbers = {name: entry.get("value") for name, entry in (result.get("metadata") or {}).items()}
    rows, problems = numbers.get("rows"), numbers.get("problems")
    looked = f" in {rows} rows" if isinstance(rows, int) else ""
    if result.get("success"):
        return f"{words}: no problem{looked}."
    n = problems if isinstance(problems, int) else "some"
    return f"{words}: {n} {'problem' if n == 1 else 'problems'}{looked}."


def _examples(event_data: Mapping[str, Any]) -> list[str]:
    written = (event_data.get("metadata") or {}).get("examples", {}).get("md_str") or ""
    return [
        unescape_markdown(line.removeprefix("- ")) for line in str(written).splitlines() if line
    ]
