"""The SQLite file that remembers responses: its tables, their version, and a digest of each row.

How a row of the response store is read: whatever stands there, no other row suffers from it.
"""

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from math import isnan
from pathlib import Path
from typing import Any

from bench_assets.core.schema.chat import Response, certain
from bench_assets.core.schema.errors import HomeError
from resources.storage.sqlite import connect, create, describe_sqlite_errors, open_read_only

VERSION = 1
"""Of the tables, as ``PRAGMA user_version`` has it; 0: before rows had digests."""

IF_DAMAGED = (
    "nothing in it was changed: put a backup in its place, or save what is whole with `sqlite3 FILE"
    " .recover | sqlite3 NEW`; if it is moved away, everything is asked again"
)
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS responses (
    key TEXT PRIMARY KEY, model TEXT, decoding TEXT, prompt TEXT, sample INTEGER, text TEXT,
    finish_reason TEXT, prompt_tokens INTEGER, completion_tokens INTEGER, seconds REAL,
    asked_at TEXT DEFAULT CURRENT_TIMESTAMP, image_tokens TEXT DEFAULT '', note TEXT DEFAULT '',
    gate TEXT DEFAULT '', digest TEXT DEFAULT ''
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS prompts (sha256 TEXT PRIMARY KEY, turns TEXT) WITHOUT ROWID;
PRAGMA user_version = {VERSION};
"""
_ALWAYS = {
    *("key", "model", "decoding", "prompt", "sample", "text", "finish_reason", "prompt_tokens"),
    *("completion_tokens", "seconds"),
}
_ADDED = ("image_tokens", "note", "gate", "digest")  # columns that files of 2026 may lack
_NOT_DIGESTED = ("asked_at", "digest")
_as_json = json.JSONEncoder(sort_keys=True, default=repr).encode


def prepare_file(file: Path) -> None:
    """Make an empty store, or bring an older one up to date; many processes may do so at once.

    Raises:
        HomeError: If the file is damaged, something else or of a newer version: it stays as it is.
    """
    with describe_sqlite_errors(file, IF_DAMAGED):
        if not file.exists():
            create(file, _SCHEMA)
        elif require_known_version(file) < VERSION:
            _bring_up_to_date(file)


def require_known_version(file: Path) -> int:
    """Say which version of our tables a file has.

    Raises:
        HomeError: If it is no store of responses, or of a newer version.
        sqlite3.Error: If SQLite cannot read it.
    """
    if not file.is_file():
        raise HomeError(f"{file}: not a file; move it away")
    if not file.stat().st_size:
        raise HomeError(
            f"{file}: empty; put a backup in its place, or delete it: everything is asked again"
        )
    with open_read_only(file) as db:
        ((version,),) = db.execute("PRAGMA user_version")
        tables = {str(row[0]) for row in db.execute("SELECT name FROM sqlite_schema")}
        columns = {str(row[1]) for row in db.execute("PRAGMA table_info(responses)")}
    if not {"responses", "prompts"} <= tables:
        has = ", ".join(sorted(tables)) or "nothing"
        raise HomeError(f"{file}: no store of responses, it has {has}; move it away")
    if version > VERSION:
        raise HomeError(
            f"{file}: written by a newer version of this program (its tables are of version"
            f" {version}, known are up to {VERSION}); update, or set BENCH_HOME to another folder"
        )
    if missing := sorted((_ALWAYS | set(_ADDED) if version else _ALWAYS) - columns):
        raise HomeError(f"{file}: damaged (no column {missing[0]}); {IF_DAMAGED}")
    return int(version)


def iterate_rows(found: sqlite3.Cursor) -> Iterator[dict[str, Any]]:
    """Name the columns of each row that was found."""
    names = [column[0] for column in found.description]
    for row in found:
        yield dict(zip(names, row, strict=True))


def row_digest(row: Mapping[str, object]) -> str:
    """Digest a row, the same before it is written and after it is read.

    Columns that say nothing do not count: one that is added later leaves digests as they are.

    >>> row = {"key": "k", "seconds": 1.0}
    >>> row_digest(row) == row_digest({"key": "k", "seconds": 1, "note": ""})
    True
    """
    said: dict[str, object] = {}
    for name, value in row.items():  # a hundred thousand rows are verified in seconds
        if value is None or value == "" or name in _NOT_DIGESTED:
            continue
        if isinstance(value, bool | float):
            if isnan(value):  # which SQLite keeps as NULL
                continue
            # Whole numbers alike, whichever type a column of SQLite gives them back in.
            said[name] = int(value) if float(value).is_integer() else value
        else:
            said[name] = value
    return hashlib.sha256(_as_json(said).encode()).hexdigest()


def is_damaged(row: Mapping[str, Any]) -> bool:
    """Whether a row is not as it was written; in a file older than digests it is taken as it is."""
    return "digest" in row and row["digest"] != row_digest(row)


def count_states(db: sqlite3.Connection) -> Counter[str]:
    """Count responses that are whole, damaged or older than digests.

    Prompts that are damaged.
    """
    responses = iterate_rows(db.execute("SELECT * FROM responses"))
    return states_of(responses, db.execute("SELECT sha256, turns FROM prompts"))


def states_of(
    responses: Iterable[Mapping[str, Any]], prompts: Iterable[tuple[str, object]]
) -> Counter[str]:
    """The same of rows and prompts, wherever they are kept."""
    states: Counter[str] = Counter()
    for row in responses:
        undigested = "digest" not in row
        states["older" if undigested else "damaged" if is_damaged(row) else "whole"] += 1
    states["damaged prompts"] = sum(not is_prompt(*prompt) for prompt in prompts)
    return states


def is_prompt(sha256: str, turns: object) -> bool:
    """Whether the turns of a prompt are those that its digest names."""
    written = str(turns)
    if _sha256(written) == sha256:
        return True
    try:  # half a character stands there as JSON writes it
        return (
            _sha256(json.dumps(json.loads(written), ensure_ascii=False, separators=(",", ":")))
            == sha256
        )
    except (ValueError, RecursionError):
        return False


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _bring_up_to_date(file: Path) -> None:
    """Add the columns that an older file lacks, and digest its rows as they are now."""
    with closing(connect(file)) as db:
        db.isolation_level = None
        db.execute("BEGIN IMMEDIATE")  # another process may be doing the same
        there = [str(row[1]) for row in db.execute("PRAGMA table_info(responses)")]
        for column in _ADDED:
            if column not in there:
                db.execute(f"ALTER TABLE responses ADD COLUMN {column} TEXT DEFAULT ''")
        names = [*dict.fromkeys((*there, *_ADDED))]
        db.create_function(
            "digest_of", len(names), lambda *row: row_digest(dict(zip(names, row, strict=True)))
        )
        db.execute(f"UPDATE responses SET digest = digest_of({', '.join(names)}) WHERE digest = ''")
        db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")


def response_from_row(row: Mapping[str, Any]) -> Response:
    """Make a response of a row; it has an ``error`` if none stands there."""
    try:
        of_each = tuple(map(int, row["image_tokens"].split()))
    except (AttributeError, ValueError):
        of_each = ()
    return certain(
        Response(
            text=row["text"],
            finish_reason=row["finish_reason"] or "",
            prompt_tokens=row["prompt_tokens"],
            completion_tokens=row["completion_tokens"],
            image_tokens=of_each,
            seconds=row["seconds"],
            note=row["note"] or "",
        )
    )
