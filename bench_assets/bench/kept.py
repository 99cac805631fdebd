"""What a command that was ended leaves behind: counted on the disk, whoever wrote it."""

import shlex
import sqlite3
import sys
from datetime import UTC, datetime
from pathlib import Path

from bench_assets.core.errors import BenchError


def how_to_go_on(home: Path, started: float) -> str:
    """Say what came since a command began, and how it is begun again; "" where nothing came.

    Args:
        home: The home folder.
        started: s since the epoch.
    """
    n_tables, n_replies = _tables_since(home / "tables", started), _replies_since(home, started)
    if not n_tables and not n_replies:
        return ""
    command = shlex.join(["bench", *sys.argv[1:]])
    return f"\nkept since it began: {n_replies} replies, {n_tables} tables; to go on: {command}"


def _tables_since(folder: Path, started: float) -> int:
    return sum(file.stat().st_mtime >= started for file in folder.rglob("*.parquet"))


def _replies_since(home: Path, started: float) -> int:
    from resources.disk.sqlite_files import opened_to_read

    file = home / "replies.sqlite"
    if not file.exists():
        return 0
    since = datetime.fromtimestamp(started, UTC).strftime("%Y-%m-%d %H:%M:%S")
    try:
        with opened_to_read(file) as db:
            found = db.execute("SELECT count(*) FROM replies WHERE asked_at >= ?", (since,))
            return int(found.fetchone()[0])
    except (BenchError, sqlite3.Error):  # the next command will say so
        return 0
