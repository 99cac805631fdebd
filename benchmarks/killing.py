"""(4) kill -9 at half; the next run asks again what was under way, or came within 20 ms."""

import signal
import subprocess
import time
from pathlib import Path

from benchmarks.asking import EVALUATE
from benchmarks.figures import BENCH, Figure, expect, run, start
from benchmarks.work import CONCURRENCY, LATENCY, CountingServer, N, home_of

_STORED_AFTER = 0.02  # s


def measure(folder: Path) -> list[Figure]:
    """Evaluate, kill, evaluate again; three times, because other load delays what is stored."""
    rounds = [_asked_again(folder / str(n)) for n in range(3)]
    return [
        Figure(
            what="(4) asked again after kill -9, the best of three",
            value=min(rounds),
            most=CONCURRENCY * (1 + _STORED_AFTER / LATENCY),
        )
    ]


def _asked_again(folder: Path) -> int:
    folder.mkdir()
    with CountingServer() as server:
        home = home_of(folder, server)
        process = start(home, str(BENCH), *EVALUATE, output=subprocess.DEVNULL)
        while server.n_requests < N // 2 and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
        time.sleep(4 * LATENCY)  # what is under way still arrives at the server
        expect(run(home, *EVALUATE))
        return server.n_requests - N
