"""Responses that an older gate let in, and that of today would not: to be found, and dropped.

Responses that are deleted for good, on somebody's word.

Responses that were stored under an identity that told a secret.
"""

import hashlib
import sqlite3
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bench_assets.core.schema.chat import Response
from resources.response_cache.engine import GATE
from resources.response_cache.port import ResponseStore
from resources.response_cache.sqlite_file import digest_of, is_damaged, rows_in, stored_response

_ENDS = frozenset(
    {"", "stop", "length", "content_filter", "refusal", "repetition", "tool_calls"}
)  # what the formats of servers store
_BROKEN_OFF = frozenset({"abort", "error", "load"})  # whoever says so


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubtful:
    """A row of the store that is not certainly a response."""

    key: str  # of the response in the store
    model: str  # identity
    prompt: str  # SHA-256; ``ResponseStore.prompt`` has its text
    why: str


def doubtful(store: ResponseStore) -> Iterator[Doubtful]:
    """Find what the gate of today would not have let in; nothing is changed.

    Looks only at what an older gate let in. What it stored of a message without a text cannot be
    told from one of a model that said nothing: either is found, and asked once more if it is
    dropped; what is then stored is not found again. Takes some 10 microseconds a response.

    The tables that were made of what is dropped stay as they are until their model is evaluated.
    """
    for row in store.rows(not_let_in_by=GATE):
        model = str(row["model"])
        if why := _complaint(model, stored_response(row)):
            yield Doubtful(key=row["key"], model=model, prompt=str(row["prompt"]), why=why)


def _complaint(model: str, response: Response) -> str:
    """Why a stored response is in doubt; "" if it is not."""
    end, empty = response.finish_reason, not response.text.strip()
    if response.error:
        return response.error
    if end in _BROKEN_OFF:
        return f"it was broken off: finish_reason {end!r}"
    if not model.startswith("server:"):
        return ""
    if end not in _ENDS:
        return f"finish_reason {end[:40]!r} is none of a response"
    return (
        "it is empty, as responses without a text once were"
        if empty and end in ("", "stop")
        else ""
    )


_OF = "model || CASE WHEN decoding = '' THEN '' ELSE '|' || decoding END"


def remove_responses(db: sqlite3.Connection, asked_as: Collection[str]) -> int:
    """Delete what was responded by models that were asked so, and give the disk its room back.

    Args:
        db: The response store, to be written to.
        asked_as: Identity and decoding, as predictions have them.

    Returns:
        How many there were.
    """
    n = 0
    with db:
        for one in asked_as:
            before = one.partition("|thinking=")[0]  # which is read off a response, not asked for
            n += db.execute(f"DELETE FROM responses WHERE {_OF} = ?", (before,)).rowcount
        db.execute("DELETE FROM prompts WHERE sha256 NOT IN (SELECT prompt FROM responses)")
    db.execute("VACUUM")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return n


def rename_model(db: sqlite3.Connection, before: str, now: str) -> int:
    """Keep a server's responses under another identity.

    Leave no byte of the old one in the file.

    Returns:
        How many there were.
    """
    db.execute("PRAGMA secure_delete=ON")  # else what is deleted stays in free pages
    with db:
        rows = list(rows_in(db.execute("SELECT * FROM responses WHERE model = ?", (before,))))
        for row in rows:
            _move(db, row, renamed(row, now))
    if rows:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return len(rows)


def renamed(row: Mapping[str, Any], now: str) -> dict[str, Any]:
    """A row as it is under another identity; its digest is of the identity before."""
    parts = [now, row["decoding"], row["prompt"], str(row["sample"])]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    return {**row, "key": key, "model": now}


def _move(db: sqlite3.Connection, row: Mapping[str, Any], moved: Mapping[str, Any]) -> None:
    if not is_damaged(row):
        changed = db.execute(
            "UPDATE OR IGNORE responses SET key = ?, model = ?, digest = ? WHERE key = ?",
            (moved["key"], moved["model"], digest_of(moved), row["key"]),
        )
        if changed.rowcount:
            return
    # Damaged, or the same was asked under the new identity too.
    db.execute("DELETE FROM responses WHERE key = ?", (row["key"],))
