"""Requests through a shared store, as of another machine.

``python -m tests.resources.response_cache.shared_process N SECONDS LEASE`` needs the responses to N
requests, each of which takes so long, and prints how many of them this process sent; the address of
the store is in BENCH_DATABASE.
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


class SlowEngine:
    """An engine that sleeps before each response, and counts the requests."""

    identity, decoding, peak_memory = "slow", Decoding(), None

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.n_requests = 0

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        for position, request in enumerate(requests):
            time.sleep(self._seconds)
            self.n_requests += 1
            print("asked", flush=True)
            yield position, Response(text=str(request.prompt.turns[0].parts[0]).upper())

    def close(self) -> None: ...


def request_all(address: str, n: int, seconds: float, lease: float) -> tuple[list[str], int]:
    """Texts of the responses to ``n`` requests, and how many requests this process sent."""
    engine = SlowEngine(seconds)
    store = ResponseStore(PostgresDatabase(address, "BENCH_DATABASE"), lease)
    requests = requests_for(*(f"q{i}" for i in range(n)))
    responses = CachingModel("m", engine, store).response(requests)
    return [response.text for response in responses], engine.n_requests


def main() -> None:
    n, seconds, lease = sys.argv[1:]
    address = os.environ["BENCH_DATABASE"]
    texts, n_sent = request_all(address, int(n), float(seconds), float(lease))
    assert texts == [f"Q{i}" for i in range(int(n))]
    print(f"in all {n_sent}", flush=True)


if __name__ == "__main__":
    main()
