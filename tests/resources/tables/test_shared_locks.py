"""One process at a time makes a table, whichever machine it is on: files, and the database."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import HomeError
from bench_resources.cluster.postgres import PostgresDatabase
from bench_resources.storage.locks import LeaseLocks, Locks
from tests.fakes.postgres_server import PostgresServer

psycopg = pytest.importorskip("psycopg", reason="make cluster-check installs psycopg")
pytestmark = pytest.mark.long

CHECKOUT = Path(__file__).parents[3]
HOLD = """
import os, sys
from bench_resources.cluster.postgres import PostgresDatabase
from bench_resources.storage.locks import LeaseLocks
database = PostgresDatabase(os.environ["BENCH_DATABASE"], "BENCH_DATABASE")
locks = LeaseLocks(database, float(sys.argv[1]))
with locks.held(sys.argv[2:], lambda why: print(why, flush=True)):
    print("held", flush=True)
    input()
"""


@pytest.fixture
def shared(address: str) -> Callable[..., Locks]:
    """Opens the locks as another process would."""
    return lambda lease=60.0: LeaseLocks(PostgresDatabase(address, "V"), lease)


@pytest.fixture
def hold(address: str) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts a process that takes locks, and holds them until it is told."""
    with ExitStack() as processes:

        def start(lease: float, *names: str) -> subprocess.Popen[str]:
            pipe = subprocess.PIPE
            one = subprocess.Popen(
                [sys.executable, "-c", HOLD, str(lease), *names],
                cwd=CHECKOUT, env={**os.environ, "BENCH_DATABASE": address},
                stdin=pipe, stdout=pipe, text=True,
            )  # fmt: skip
            processes.callback(one.wait)
            processes.callback(one.kill)
            return one

        yield start


def next_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def refuse(why: str) -> None:
    raise HomeError(why)


def test_the_second_waits_says_for_whom_and_goes_on_at_once_when_the_first_is_killed(
    hold: Callable[..., subprocess.Popen[str]],
) -> None:
    first = hold(60, "m on codis", "m on blink")
    assert next_line(first) == "held"
    second, other = hold(60, "m on codis"), hold(60, "n on codis")
    assert next_line(second).startswith(f"m on codis: waiting for process {first.pid} on ")
    assert next_line(other) == "held"
    first.send_signal(signal.SIGKILL)
    first.wait()
    began = time.monotonic()
    assert next_line(second) == "held"
    assert time.monotonic() - began < 10  # not the length of a lease


def test_a_lock_of_a_machine_that_died_is_free_when_the_lease_ends(
    address: str, hold: Callable[..., subprocess.Popen[str]], shared: Callable[..., Locks]
) -> None:
    first = hold(2, "a", "b")
    assert next_line(first) == "held"
    with psycopg.connect(address) as db:  # as if it were elsewhere
        db.execute("UPDATE leases SET note = replace(note, '\"host\": \"', '&other-')")
    first.send_signal(signal.SIGKILL)
    first.wait()
    waited: list[str] = []
    began = time.monotonic()
    with shared(2.0).held(["b", "c"], waited.append):
        assert 0.5 < time.monotonic() - began < 5
    assert len(waited) == 1


def test_a_lock_that_is_held_for_long_stays_its_holder_s(shared: Callable[..., Locks]) -> None:
    with shared(0.6).held(["a"], refuse):
        time.sleep(2)  # three leases
        with (
            pytest.raises(HomeError, match=rf"^a: waiting for process {os.getpid()} on "),
            shared(0.6).held(["a"], refuse),
        ):
            pytest.fail("two have it")
    with shared().held(["a"], refuse):
        pass


def test_many_that_want_several_in_any_order_all_have_them_in_turn(
    shared: Callable[..., Locks],
) -> None:
    inside, most = [], []

    def work(n: int) -> None:
        names = [*["a", "b", "c", "d"][n % 4 :], "a"]
        with shared().held(names, lambda why: None):
            inside.append(n)
            most.append(len(inside))
            time.sleep(0.02)
            inside.remove(n)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
    assert most == [1] * 8


def test_a_restart_of_the_database_loses_no_lock(
    server: PostgresServer, shared: Callable[..., Locks]
) -> None:
    waited: list[str] = []
    with shared(8.0).held(["a"], refuse):
        server.stop()
        server.start()
        waiting = threading.Thread(
            target=lambda: shared(8.0).held(["a"], waited.append).__enter__(), daemon=True
        )
        waiting.start()
        time.sleep(3)
        assert waiting.is_alive()
        assert [why.partition(" on ")[0] for why in waited] == [
            f"a: waiting for process {os.getpid()}"
        ]
    waiting.join(10)
    assert not waiting.is_alive()
