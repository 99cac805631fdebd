"""Replies that were stored under an identity that told a secret."""

import hashlib
import sqlite3
from collections.abc import Mapping
from typing import Any

from resources.replies.reply_file import digest_of, is_damaged, rows_in


def rename_model(db: sqlite3.Connection, before: str, now: str) -> int:
    """Keep a server's replies under another identity, and leave no byte of the old one in the file.

    Returns:
        How many there were.
    """
    db.execute("PRAGMA secure_delete=ON")  # else what is deleted stays in free pages
    with db:
        rows = list(rows_in(db.execute("SELECT * FROM replies WHERE model = ?", (before,))))
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
            "UPDATE OR IGNORE replies SET key = ?, model = ?, digest = ? WHERE key = ?",
            (moved["key"], moved["model"], digest_of(moved), row["key"]),
        )
        if changed.rowcount:
            return
    # Damaged, or the same was asked under the new identity too.
    db.execute("DELETE FROM replies WHERE key = ?", (row["key"],))
