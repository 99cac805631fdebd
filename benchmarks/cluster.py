"""Shared storage and runs: PostgreSQL, object stores, Ray.

A measurement is skipped with a reason if its programs or packages are not installed.
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from bench_assets.core.schema.provenance import row_digest
from bench_resources.response_cache.engine import VALIDATION_VERSION
from bench_resources.response_cache.store import ResponseStore
from benchmarks.figures import Figure

_N_BATCHES = 5
_BATCH_SIZE = 5_000  # responses
_MODULES = ("cluster_leaderboard", "cluster_images", "cluster_ray")


def measure(folder: Path) -> list[Figure]:
    """Run all measurements that are possible here."""
    figures = _run_or_skip("PostgreSQL", _measure_postgres)
    for name in _MODULES:
        figures += _run_or_skip(name, partial(_run_module, name, folder))
    return figures


def _run_or_skip(name: str, measurement: Callable[[], list[Figure]]) -> list[Figure]:
    """Run a measurement; if a program or package is missing, say so and return no figures."""
    import pytest

    try:
        return measurement()
    except (ImportError, pytest.skip.Exception) as error:
        sys.stdout.write(f"cluster, {name}: skipped: {error}\n")
        return []


def _run_module(name: str, folder: Path) -> list[Figure]:
    subfolder = folder / name
    subfolder.mkdir()
    figures: list[Figure] = import_module(f"benchmarks.{name}").measure(subfolder)
    return figures


def _measure_postgres() -> list[Figure]:
    """Store batches of responses until the last one is written, and look all of them up."""
    from bench_resources.cluster.postgres import PostgresDatabase
    from tests.fakes.postgres_server import postgres

    batches = [[_build_row(batch, n) for n in range(_BATCH_SIZE)] for batch in range(_N_BATCHES)]
    keys = [row["key"] for rows in batches for row in rows]
    with postgres(fsync=True) as server:
        store = ResponseStore(PostgresDatabase(server.address(), "BENCH_DATABASE"))
        times = [_store_batch(store, rows) for rows in batches]
        started = perf_counter()
        responses = store.find(keys)
        lookup_seconds = perf_counter() - started
    assert len(responses) == len(keys)
    wall_seconds, cpu_seconds = map(min, zip(*times, strict=True))
    return [
        Figure(
            "responses stored in PostgreSQL, the best of five batches",
            _BATCH_SIZE / wall_seconds,
            at_least=5_000,
            unit="/s",
        ),
        Figure("    CPU of bench for each response", cpu_seconds / _BATCH_SIZE * 1e6, unit="us"),
        Figure("    looked up", len(keys) / lookup_seconds, unit="/s"),
    ]


def _store_batch(store: ResponseStore, rows: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """Store responses, and return the seconds and the CPU seconds of this process."""
    turns = f'["user", ["{"What is to be seen in this image? " * 8}"]]'
    with store.request_session([row["key"] for row in rows]) as session:
        wall_start, cpu_start = perf_counter(), process_time()
        for row in rows:
            session.keep(row, turns)
    return perf_counter() - wall_start, process_time() - cpu_start


def _build_row(batch: int, number: int) -> dict[str, Any]:
    key = sha256(f"{batch} {number}".encode()).hexdigest()
    columns: dict[str, Any] = {
        "key": key,
        "model": "m@0123456789abcdef",
        "decoding": "t=0,max=1024",
        "prompt": key[::-1],
        "sample": 0,
        "text": "The answer is (A): that is what the image shows. " * 3,
        "finish_reason": "stop",
        "prompt_tokens": 300,
        "completion_tokens": 40,
        "image_tokens": "",
        "seconds": 0.5,
        "note": "",
        "gate": VALIDATION_VERSION,
    }
    return {**columns, "digest": row_digest(columns)}
