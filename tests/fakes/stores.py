from pathlib import Path

from bench_resources.response_cache import store
from bench_resources.response_cache.store import ResponseStore
from bench_resources.storage.database import SqliteDatabase


def response_file(file: Path) -> ResponseStore:
    return ResponseStore(SqliteDatabase(file, store.REPAIR_ADVICE))
