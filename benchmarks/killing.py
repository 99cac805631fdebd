"""How many questions are asked twice if ``kill -9`` ends an evaluation halfway."""

import signal
import subprocess
import time
from pathlib import Path

from benchmarks.asking import EVALUATE
from benchmarks.figures import BENCH, Figure, run_bench, start_command
from benchmarks.work import CONCURRENCY, LATENCY, N_QUESTIONS, CountingServer, write_home

_SECONDS_UNTIL_STORED = 0.02  # from a response until it is in the cache


def measure(folder: Path) -> list[Figure]:
    """Take the best of three evaluations, as other load delays when responses are stored."""
    n_repeated = min(_count_repeated_requests(folder / str(number)) for number in range(3))
    return [
        Figure(
            "asked again after kill -9, the best of three",
            n_repeated,
            at_most=CONCURRENCY * (1 + _SECONDS_UNTIL_STORED / LATENCY),
        )
    ]


def _count_repeated_requests(folder: Path) -> int:
    folder.mkdir()
    with CountingServer() as server:
        home = write_home(folder, server)
        process = start_command(home, str(BENCH), *EVALUATE, output=subprocess.DEVNULL)
        while server.n_requests < N_QUESTIONS // 2 and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
        time.sleep(4 * LATENCY)  # until the server has received the requests that were sent
        run_bench(home, *EVALUATE)
        return server.n_requests - N_QUESTIONS
