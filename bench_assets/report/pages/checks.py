"""Data of the pages ``checks`` and ``expectations``."""

import json
import logging
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench_assets.catalog import Catalog
from bench_assets.core.schema.errors import HomeError, TableError
from bench_assets.core.tables.expectations import ValidationRow
from bench_assets.core.text.escaping import unescape_markdown
from bench_assets.report.site.folder import Site
from bench_resources.storage.sqlite import describe_sqlite_errors, open_read_only
from bench_resources.tables.parquet import TableFiles

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


def sentence(check: str, said: Mapping[str, Any]) -> str:
    """Describe the result of a check in a sentence.

    >>> numbers = {"rows": {"value": 80}, "problems": {"value": 0}}
    >>> sentence("no_row_lost", {"success": True, "metadata": numbers})
    'No row lost: no problem in 80 rows.'
    """
    words = check.replace("_", " ").capitalize()
    if said.get("description"):
        return f"{words}: {said['description']}"
    numbers = {name: entry.get("value") for name, entry in (said.get("metadata") or {}).items()}
    rows, problems = numbers.get("rows"), numbers.get("problems")
    looked = f" in {rows} rows" if isinstance(rows, int) else ""
    if said.get("success"):
        return f"{words}: no problem{looked}."
    n = problems if isinstance(problems, int) else "some"
    return f"{words}: {n} {'problem' if n == 1 else 'problems'}{looked}."


def _examples(event_data: Mapping[str, Any]) -> list[str]:
    written = (event_data.get("metadata") or {}).get("examples", {}).get("md_str") or ""
    return [
        unescape_markdown(line.removeprefix("- ")) for line in str(written).splitlines() if line
    ]


_TABLE = ("expectations",)


class ExpectationsPage:
    """Writes ``expectations``: an entry per table, with its expectations."""

    def write(self, site: Site, tables: TableFiles, _: Catalog) -> None:
        """Write the latest results, or why there are none."""
        tables_checked = _found(tables)
        site.put("expectations", tables_checked)
        site.tabs += ["expectations"] * bool(tables_checked["tables"])


def _found(tables: TableFiles) -> dict[str, Any]:
    try:
        rows = tables.read(_TABLE, ValidationRow)
    except TableError:
        return {"tables": [], "missing": "bench tables check"}
    by_table: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_table.setdefault(row.table, []).append(asdict(row))
    tables_checked = [
        {
            "table": name,
            "rows": every[0]["rows"],
            "failed": sum(not check["passed"] for check in every),
            "expectations": every,
        }
        for name, every in by_table.items()
    ]
    return {"tables": sorted(tables_checked, key=lambda one: -one["failed"]), "missing": ""}
