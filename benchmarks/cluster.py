"""What homes share: responses in PostgreSQL, images, a leaderboard of many models.

Each part is skipped with a reason where what it needs is not installed.
"""

import sys
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from bench_assets.core.schema.provenance import row_digest
from bench_resources.response_cache.engine import VALIDATION_VERSION
from bench_resources.response_cache.store import ResponseStore
from benchmarks.figures import Figure

_BATCHES = 5
_BATCH = 5_000  # responses
_PARTS = ("cluster_leaderboard", "cluster_images", "cluster_ray")  # with files of their own


def measure(folder: Path) -> list[Figure]:
    """Measure each part that can be."""
    figures = _of("PostgreSQL", _on_postgres)
    for name in _PARTS:
        if find_spec(f"benchmarks.{name}"):
            figures += _of(name, partial(_part, name, folder))
    return figures


def _of(what: str, measured: Callable[[], list[Figure]]) -> list[Figure]:
    """The figures of a part; none, and a line that says why, where it cannot be measured."""
    import pytest

    try:
        return measured()
    except (ImportError, pytest.skip.Exception) as error:
        sys.stdout.write(f"cluster, {what}: skipped: {error}\n")
        return []


def _part(name: str, folder: Path) -> list[Figure]:
    below = folder / name
    below.mkdir()
    figures: list[Figure] = import_module(f"benchmarks.{name}").measure(below)
    return figures


def _on_postgres() -> list[Figure]:
    from bench_resources.cluster.postgres import PostgresDatabase
    from tests.fakes.postgres_server import postgres

    with postgres(fsync=True) as server:
        store = ResponseStore(PostgresDatabase(server.address(), "BENCH_DATABASE"))
        return [*_kept(store), *_looked_up(store)]


def _kept(store: ResponseStore) -> list[Figure]:
    """Keep responses in batches, as they come of an asking, until the last is written."""
    each = [_kept_batch(store, number) for number in range(_BATCHES)]
    wall, cpu = (min(of) / _BATCH for of in zip(*each, strict=True))
    return [
        Figure(
            what="responses kept in PostgreSQL, the best of five batches",
            value=1 / wall,
            least=5_000,
            unit="/s",
        ),
        Figure(what="    CPU of who keeps them", value=cpu * 1e6, unit="us a response"),
    ]


def _kept_batch(store: ResponseStore, number: int) -> tuple[float, float]:
    """Seconds, and CPU seconds of this process."""
    rows = [_row(number, n) for n in range(_BATCH)]
    turns = f'["user", ["{"What is to be seen in this image? " * 8}"]]'
    with store.request_session([one["key"] for one in rows]) as asking:
        started, cpu = perf_counter(), process_time()
        for one in rows:
            asking.keep(one, turns)
    return perf_counter() - started, process_time() - cpu


def _row(number: int, n: int) -> dict[str, Any]:
    key = sha256(f"{number} {n}".encode()).hexdigest()
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


def _looked_up(store: ResponseStore) -> list[Figure]:
    keys = [_row(number, n)["key"] for number in range(_BATCHES) for n in range(_BATCH)]
    started = perf_counter()
    found = store.find(keys)
    seconds = perf_counter() - started
    assert len(found) == len(keys)
    return [Figure(what="    the same looked up", value=len(keys) / seconds, unit="/s")]
