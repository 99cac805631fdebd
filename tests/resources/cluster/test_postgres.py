import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
import sqlalchemy as sa

from bench_assets.core.schema.chat import Response
from bench_assets.core.schema.errors import HomeError, ModelError
from bench_resources.cluster.postgres import PostgresDatabase
from bench_resources.response_cache.caching_model import CachingModel
from bench_resources.response_cache.store import ResponseStore
from bench_resources.storage.locks import LeaseLocks, Locks, LockWait
from bench_resources.storage.schema import STORES, responses
from tests.conftest import CHECKOUT
from tests.fakes.postgres_server import PostgresServer
from tests.fakes.server_engines import requests_for
from tests.resources.response_cache.shared_process import request_all
from tests.resources.response_cache.test_rows import ScriptedEngine, downgrade
from tests.resources.storage.test_locks import Holder

psycopg = pytest.importorskip("psycopg", reason="make cluster-check installs psycopg")
pytestmark = pytest.mark.long


def start_process(database_address, n, seconds, lease):
    return subprocess.Popen(
        [sys.executable, "-m", "tests.resources.response_cache.shared_process",
         *map(str, (n, seconds, lease))],
        cwd=CHECKOUT, env={**os.environ, "BENCH_DATABASE": database_address},
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def n_leases(database_address: str) -> int:
    with psycopg.connect(database_address) as db:
        row = db.execute("SELECT count(*) FROM leases").fetchone()
    assert row
    (n_rows,) = row
    return int(n_rows)


def test_requests_of_four_processes_at_once_are_sent_once(database_address: str) -> None:
    processes = [start_process(database_address, 400, 0.005, 60) for _ in range(4)]
    outputs = [process.communicate(timeout=120)[0] for process in processes]
    counts = [int(output.splitlines()[-1].removeprefix("in all ")) for output in outputs]
    assert sum(counts) == 400
    assert n_leases(database_address) == 0


def test_a_request_that_is_longer_than_its_lease_is_sent_once(database_address: str) -> None:
    with ThreadPoolExecutor(2) as threads:  # a request of three leases
        results = list(threads.map(lambda _: request_all(database_address, 1, 3.0, 1.0), range(2)))
    assert sorted(n_sent for _, n_sent in results) == [0, 1]
    assert [texts for texts, _ in results] == [["Q0"], ["Q0"]]


def test_requests_of_a_killed_process_are_sent_by_another(database_address: str) -> None:
    process = start_process(database_address, 20, 0.1, 2.0)
    assert process.stdout
    for _ in range(5):
        assert process.stdout.readline() == "asked\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    started_at = time.monotonic()
    texts, n_sent = request_all(database_address, 20, 0.0, 2.0)
    assert texts == [f"Q{i}" for i in range(20)]
    # Of the 5 responses that were there, the last may be unwritten; a sixth request may be done.
    assert 20 - 6 <= n_sent <= 20 - 4
    assert time.monotonic() - started_at < 10
    process.stdout.close()


def test_a_request_that_failed_can_be_sent_by_another_at_once(open_shared_responses):
    failing_engine = ScriptedEngine(Response(error="HTTP 500"))
    with pytest.raises(ModelError, match="HTTP 500"):
        CachingModel("m", failing_engine, open_shared_responses()).response(requests_for("a"))
    started_at = time.monotonic()
    model = CachingModel("m", ScriptedEngine(Response(text="A")), open_shared_responses())
    (response,) = model.response(requests_for("a"))
    assert response.text == "A"
    assert time.monotonic() - started_at < 5  # much less than a lease


def test_over_a_restart_of_the_database_each_request_is_sent_once(
    database_server: PostgresServer, database_address: str
) -> None:
    def restart() -> None:
        time.sleep(1)
        database_server.stop()
        time.sleep(2)
        database_server.start()

    restarting = threading.Thread(target=restart)
    restarting.start()
    texts, n_sent = request_all(database_address, 300, 0.02, 60)
    restarting.join()
    assert texts == [f"Q{i}" for i in range(300)]
    assert n_sent == 300
    _texts, n_sent_again = request_all(database_address, 300, 0.0, 60)
    assert n_sent_again == 0
    assert n_leases(database_address) == 0


def test_a_wait_for_a_stopped_database_is_logged_and_limited(
    database_server: PostgresServer, database_address: str, caplog: pytest.LogCaptureFixture
) -> None:
    def work(connection: sa.Connection) -> int:
        return int(connection.exec_driver_sql("SELECT 1").scalar_one())

    database = PostgresDatabase(database_address, "BENCH_DATABASE")
    assert database.read(work) == 1
    database_server.stop()
    try:
        with pytest.raises(HomeError, match="Connection refused"):
            database.write(work, patience=1)
    finally:
        database_server.start()
    (message,) = caplog.messages
    assert message.endswith("; retrying for 1 s")
    assert database.read(work) == 1


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, ZeroDivisionError])
def test_interrupted_work_is_rolled_back(database_address, interruption):
    def work(connection: sa.Connection) -> None:
        connection.exec_driver_sql("CREATE TABLE half (done int)")
        raise interruption

    database = PostgresDatabase(database_address, "BENCH_DATABASE")
    with pytest.raises(interruption):
        database.write(work)
    assert database.read(lambda connection: sa.inspect(connection).get_table_names()) == []


def schema_differences(connection: sa.Connection) -> list[str]:
    """Differences that Alembic finds between the tables and the program, but for nullability."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    options = {"version_table": "bench_revisions"}
    context = MigrationContext.configure(connection, opts=options)
    differences = map(str, compare_metadata(context, responses.metadata))
    return [difference for difference in differences if "nullable" not in difference]


def test_a_migrated_database_has_the_schema_of_a_new_one(database_address: str) -> None:
    database = PostgresDatabase(database_address, "V")
    for name in STORES:
        database.prepare(name)
    downgrade(ResponseStore(database))
    with pytest.raises(HomeError, match=r"older version\. Run `bench home migrate-schema`"):
        ResponseStore(database)
    assert database.migrate(tuple(STORES)) == ["responses"]
    assert database.migrate(tuple(STORES)) == []
    assert database.read(schema_differences) == []


def test_a_database_that_cannot_be_used_is_named_without_its_password(database_server):
    address = database_server.address(password="wrong secret")
    with pytest.raises(HomeError, match="authentication failed") as raised:
        ResponseStore(PostgresDatabase(address, "BENCH_DATABASE"))
    assert "BENCH_DATABASE" in str(raised.value)
    assert "wrong" not in str(raised.value)


_HOLD = """
import os, sys
from bench_resources.cluster.postgres import PostgresDatabase
from bench_resources.storage.locks import LeaseLocks
database = PostgresDatabase(os.environ["BENCH_DATABASE"], "BENCH_DATABASE")
locks = LeaseLocks(database, float(sys.argv[1]))
with locks.held(sys.argv[2:], lambda wait: print(wait, flush=True)):
    print("held", flush=True)
    input()
"""


@pytest.fixture
def open_locks(database_address: str) -> Callable[..., Locks]:
    """Opens the locks as another process would."""
    return lambda lease=60.0: LeaseLocks(PostgresDatabase(database_address, "V"), lease)


@pytest.fixture
def hold(database_address: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Holder]]:
    """Starts processes that take locks, and hold them until they are killed."""
    monkeypatch.setenv("BENCH_DATABASE", database_address)
    with ExitStack() as holders:

        def start(lease: float, *names: str) -> Holder:
            holder = Holder(_HOLD, lease, *names)
            holders.callback(holder.kill)
            return holder

        yield start


def fail_if_waiting(wait: LockWait) -> None:
    raise HomeError(str(wait))


def test_a_process_names_the_holder_that_it_waits_for_and_continues_after_its_death(hold):
    first = hold(60, "m on codis", "m on blink")
    assert first.read_line() == "held"
    second, unrelated = hold(60, "m on codis"), hold(60, "n on codis")
    assert second.read_line().startswith(f"m on codis: waiting for process {first.process.pid} on ")
    assert unrelated.read_line() == "held"
    first.kill()
    started_at = time.monotonic()
    assert second.read_line() == "held"
    assert time.monotonic() - started_at < 10  # not the length of a lease


def test_a_lock_of_another_machine_is_free_when_its_lease_ends(database_address, hold, open_locks):
    first = hold(2, "a", "b")
    assert first.read_line() == "held"
    with psycopg.connect(database_address) as db:  # as if it were elsewhere
        db.execute("UPDATE leases SET note = replace(note, '\"host\": \"', '&other-')")
    first.kill()
    waits: list[LockWait] = []
    started_at = time.monotonic()
    with open_locks(2.0).held(["b", "c"], waits.append):
        assert 0.5 < time.monotonic() - started_at < 5
    assert len(waits) == 1


def test_holders_of_several_locks_in_any_order_take_turns(open_locks: Callable[..., Locks]) -> None:
    holders: list[int] = []
    n_holders: list[int] = []

    def work(worker: int) -> None:
        names = [*["a", "b", "c", "d"][worker % 4 :], "a"]
        with open_locks().held(names, lambda wait: None):
            holders.append(worker)
            n_holders.append(len(holders))
            time.sleep(0.02)
            holders.remove(worker)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
    assert n_holders == [1] * 8


def test_a_lock_is_held_over_a_restart_of_the_database(database_server, open_locks):
    waits: list[LockWait] = []
    with open_locks(8.0).held(["a"], fail_if_waiting):
        database_server.stop()
        database_server.start()
        waiting = threading.Thread(
            target=lambda: open_locks(8.0).held(["a"], waits.append).__enter__(), daemon=True
        )
        waiting.start()
        time.sleep(3)
        assert waiting.is_alive()
        (wait,) = waits
        assert wait.lock == "a"
        assert wait.holder.startswith(f"process {os.getpid()} on ")
    waiting.join(10)
    assert not waiting.is_alive()
