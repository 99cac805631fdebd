"""Replies that are deleted for good, on somebody's word."""

import sqlite3
from collections.abc import Collection

_OF = "model || CASE WHEN decoding = '' THEN '' ELSE '|' || decoding END"


def remove_replies(db: sqlite3.Connection, asked_as: Collection[str]) -> int:
    """Delete what was replied by models that were asked so, and give the disk its room back.

    Args:
        db: The reply store, to be written to.
        asked_as: Identity and decoding, as predictions have them.

    Returns:
        How many there were.
    """
    n = 0
    with db:
        for one in asked_as:
            before = one.partition("|thinking=")[0]  # which is read off a reply, not asked for
            n += db.execute(f"DELETE FROM replies WHERE {_OF} = ?", (before,)).rowcount
        db.execute("DELETE FROM prompts WHERE sha256 NOT IN (SELECT prompt FROM replies)")
    db.execute("VACUUM")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return n
