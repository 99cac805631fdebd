"""Replies that were stored under an identity that told a secret."""

import hashlib
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from typing import Any

from resources.replies.reply_file import digest_of, is_damaged, rows_in
from resources.replies.store import ReplyStore


def rename_model(store: ReplyStore, before: str, now: str) -> int:
    """Keep a server's replies under another identity, and leave no byte of the old one in the file.

    Returns:
        How many there were.
    """
    with closing(store.connect()) as db:
        db.execute("PRAGMA secure_delete=ON")  # else what is deleted stays in free pages
        with db:
            rows = list(rows_in(db.execute("SELECT * FROM replies WHERE model = ?", (before,))))
            for row in rows:
                parts = [now, row["decoding"], row["prompt"], str(row["sample"])]
                renamed = hashlib.sha256("\n".join(parts).encode()).hexdigest()
                _move(db, row, {**row, "key": renamed, "model": now})
        if rows:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return len(rows)


def _move(db: sqlite3.Connection, row: Mapping[str, Any], renamed: Mapping[str, Any]) -> None:
    if not is_damaged(row):
        changed = db.execute(
            "UPDATE OR IGNORE replies SET key = ?, model = ?, digest = ? WHERE key = ?",
            (renamed["key"], renamed["model"], digest_of(renamed), row["key"]),
        )
        if changed.rowcount:
            return
    # Damaged, or the same was asked under the new identity too.
    db.execute("DELETE FROM replies WHERE key = ?", (row["key"],))
