"""Asks through a shared store, as another machine would.

``python -m tests.resources.response_cache.shared_process N SECONDS LEASE`` asks N requests, each of
which takes so long, and prints the number of those that it asked; the address is in BENCH_DATABASE.
"""

import os
import sys
import time
from collections.abc import Iterator, Sequence

from bench_assets.core.schema.chat import Decoding, Request, Response
from bench_resources.cluster.postgres import PostgresDatabase
from bench_resources.response_cache.caching_model import CachingModel
from bench_resources.response_cache.store import ResponseStore
from tests.fakes.server_engines import requests_for


class Slow:
    """An engine that takes its time, and counts."""

    identity, decoding, peak_memory = "slow", Decoding(), None

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.n = 0

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        for position, request in enumerate(requests):
            time.sleep(self._seconds)
            self.n += 1
            print("asked", flush=True)
            yield position, Response(text=str(request.prompt.turns[0].parts[0]).upper())

    def close(self) -> None:
        """Nothing is held."""


def ask(address: str, n: int, seconds: float, lease: float) -> tuple[list[str], int]:
    """Ask everything; what was said, and how many requests that took here."""
    engine = Slow(seconds)
    store = ResponseStore(PostgresDatabase(address, "BENCH_DATABASE"), lease)
    responses = CachingModel("m", engine, store).response(
        requests_for(*(f"q{i}" for i in range(n)))
    )
    return [response.text for response in responses], engine.n


if __name__ == "__main__":
    how_many, how_long, how_leased = sys.argv[1:]
    responses_of_all, n_requested = ask(
        os.environ["BENCH_DATABASE"], int(how_many), float(how_long), float(how_leased)
    )
    assert responses_of_all == [f"Q{i}" for i in range(int(how_many))]
    print(f"in all {n_requested}", flush=True)
