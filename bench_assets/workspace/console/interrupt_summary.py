"""Summary of an interrupted evaluation: the responses and tables that were stored."""

from datetime import UTC, datetime
from pathlib import Path

from bench_assets.core.schema.errors import BenchError


def interrupt_summary(home: Path, started_at: float, command: str) -> str:
    """Summarise what was stored since ``started_at`` (s since the epoch); "" for nothing.

    ``command`` is the command or call that continues.
    """
    tables = (home / "tables").rglob("*.parquet")
    n_tables = sum(file.stat().st_mtime >= started_at for file in tables)
    n_responses = _count_responses_since(home, started_at)
    if not n_tables and not n_responses:
        return ""
    return f"\nstored so far: {n_responses} responses, {n_tables} tables. To continue: {command}"


def _count_responses_since(home: Path, started_at: float) -> int:
    from bench_resources.config.bench_toml import load_settings
    from bench_resources.config.stores import existing_response_store

    try:
        store = existing_response_store(load_settings(home))
        return store.count_since(datetime.fromtimestamp(started_at, UTC)) if store else 0
    except BenchError:  # the next command reports it
        return 0
