"""What a command that was ended leaves behind: counted on the disk, whoever wrote it."""

import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path

from bench_assets.core.schema.errors import BenchError


def how_to_go_on(home: Path, started: float) -> str:
    """Say what came since a command began, and how it is begun again; "" where nothing came.

    Args:
        home: The home folder.
        started: s since the epoch.
    """
    n_tables, n_responses = _tables_since(home / "tables", started), _responses_since(home, started)
    if not n_tables and not n_responses:
        return ""
    command = shlex.join(["bench", *sys.argv[1:]])
    return f"\nkept since it began: {n_responses} responses, {n_tables} tables; to go on: {command}"


def _tables_since(folder: Path, started: float) -> int:
    return sum(file.stat().st_mtime >= started for file in folder.rglob("*.parquet"))


def _responses_since(home: Path, started: float) -> int:
    from resources.config.bench_toml import load_settings
    from resources.config.stores import remembered_responses

    try:
        store = remembered_responses(load_settings(home))
        return store.n_since(datetime.fromtimestamp(started, UTC)) if store else 0
    except BenchError:  # the next command will say so
        return 0
