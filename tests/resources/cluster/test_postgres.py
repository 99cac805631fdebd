"""Machines that share responses and locks, whoever dies, whatever becomes of the database."""

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
from bench_assets.core.schema.errors import HomeError
from bench_resources.cluster.postgres import PostgresDatabase
from bench_resources.response_cache.caching_model import CachingModel
from bench_resources.response_cache.store import ResponseStore
from bench_resources.storage.locks import LeaseLocks, Locks
from bench_resources.storage.schema import STORES, responses
from tests.conftest import CHECKOUT
from tests.fakes.postgres_server import PostgresServer
from tests.fakes.server_engines import requests_for
from tests.resources.response_cache.shared_process import request_all
from tests.resources.response_cache.test_rows import ScriptedEngine, downgrade
from tests.resources.storage.test_locks import Holder

psycopg = pytest.importorskip("psycopg", reason="make cluster-check installs psycopg")
pytestmark = pytest.mark.long


def start_process(
    database_address: str, n: int, seconds: float, lease: float
) -> subprocess.Popen[str]:
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
    return int(row[0])


def test_what_four_processes_request_at_once_is_sent_once(database_address: str) -> None:
    processes = [start_process(database_address, 400, 0.005, 60) for _ in range(4)]
    outputs = [process.communicate(timeout=120)[0].split("\n") for process in processes]
    counts = [int(lines[-2].removeprefix("in all ")) for lines in outputs]
    assert sum(counts) == 400
    assert n_leases(database_address) == 0


def test_a_long_request_is_renewed_and_sent_once(database_address: str) -> None:
    with ThreadPoolExecutor(2) as threads:  # a request of three leases
        each = list(threads.map(lambda _: request_all(database_address, 1, 3.0, 1.0), range(2)))
    assert sorted(n for _, n in each) == [0, 1]
    assert [texts for texts, _ in each] == [["Q0"]] * 2


def test_a_request_of_a_process_that_was_killed_is_taken_over(database_address: str) -> None:
    process = start_process(database_address, 20, 0.1, 2.0)
    assert process.stdout
    for _ in range(5):
        assert process.stdout.readline() == "asked\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    began = time.monotonic()
    texts, n = request_all(database_address, 20, 0.0, 2.0)
    assert texts == [f"Q{i}" for i in range(20)]
    assert 20 - 6 <= n <= 20 - 4  # what was being written or asked
    assert time.monotonic() - began < 10
    process.stdout.close()


def test_what_came_back_with_an_error_is_free_for_another(
    open_shared_responses: Callable[..., ResponseStore],
) -> None:
    with pytest.raises(Exception, match="HTTP 500"):
        CachingModel(
            "m", ScriptedEngine(Response(error="HTTP 500")), open_shared_responses()
        ).response(requests_for("a"))
    began = time.monotonic()
    engine = ScriptedEngine(Response(text="A"))
    assert (
        CachingModel("m", engine, open_shared_responses()).response(requests_for("a"))[0].text
        == "A"
    )
    assert time.monotonic() - began < 5  # not the length of a lease


def test_a_restart_of_the_database_loses_nothing_and_asks_nothing_twice(
    database_server: PostgresServer, database_address: str
) -> None:
    def restart() -> None:
        time.sleep(1)
        database_server.stop()
        time.sleep(2)
        database_server.start()

    restarting = threading.Thread(target=restart)
    restarting.start()
    texts, n = request_all(database_address, 300, 0.02, 60)
    restarting.join()
    assert (texts, n) == ([f"Q{i}" for i in range(300)], 300)
    assert request_all(database_address, 300, 0.0, 60)[1] == 0
    assert n_leases(database_address) == 0


def test_who_waits_for_a_database_that_went_away_gets_a_message(
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


@pytest.mark.parametrize("raised", [KeyboardInterrupt, ZeroDivisionError])
def test_work_that_is_interrupted_is_rolled_back(
    database_address: str, raised: type[BaseException]
) -> None:
    def work(connection: sa.Connection) -> None:
        connection.exec_driver_sql("CREATE TABLE half (done int)")
        raise raised

    database = PostgresDatabase(database_address, "BENCH_DATABASE")
    with pytest.raises(raised):
        database.write(work)
    assert database.read(lambda connection: sa.inspect(connection).get_table_names()) == []


def test_a_migrated_database_has_the_schema_of_a_new_one(database_address: str) -> None:
    """Alembic itself finds no difference between the tables and the schema of the program."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    database = PostgresDatabase(database_address, "V")
    for name in STORES:
        database.prepare(name)
    downgrade(ResponseStore(database))
    with pytest.raises(HomeError, match=r"older version\. Run `bench home migrate-schema`"):
        ResponseStore(database)
    assert database.migrate(tuple(STORES)) == ["responses"]
    assert database.migrate(tuple(STORES)) == []

    def differences(connection: sa.Connection) -> list[object]:
        options = {"version_table": "bench_revisions"}
        context = MigrationContext.configure(connection, opts=options)
        found: list[object] = compare_metadata(context, responses.metadata)
        return [one for one in found if "nullable" not in str(one)]

    assert database.read(differences) == []


def test_a_database_that_cannot_be_used_is_named_without_its_password(
    database_server: PostgresServer,
) -> None:
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
with locks.held(sys.argv[2:], lambda why: print(why, flush=True)):
    print("held", flush=True)
    input()
"""


@pytest.fixture
def open_locks(database_address: str) -> Callable[..., Locks]:
    """Opens the locks as another process would."""
    return lambda lease=60.0: LeaseLocks(PostgresDatabase(database_address, "V"), lease)


@pytest.fixture
def hold(database_address: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Holder]]:
    """Starts a process that takes locks, and holds them until it is told."""
    monkeypatch.setenv("BENCH_DATABASE", database_address)
    with ExitStack() as holders:

        def start(*words: object) -> Holder:
            holder = Holder(_HOLD, *words)
            holders.callback(holder.kill)
            return holder

        yield start


def refuse(raised: str) -> None:
    raise HomeError(raised)


def test_the_second_waits_says_for_whom_and_goes_on_at_once_when_the_first_is_killed(
    hold: Callable[..., Holder],
) -> None:
    first = hold(60, "m on codis", "m on blink")
    assert first.read_line() == "held"
    second, other = hold(60, "m on codis"), hold(60, "n on codis")
    assert second.read_line().startswith(f"m on codis: waiting for process {first.process.pid} on ")
    assert other.read_line() == "held"
    first.kill()
    began = time.monotonic()
    assert second.read_line() == "held"
    assert time.monotonic() - began < 10  # not the length of a lease


def test_a_lock_of_a_machine_that_died_is_free_when_the_lease_ends(
    database_address: str,
    hold: Callable[..., Holder],
    open_locks: Callable[..., Locks],
) -> None:
    first = hold(2, "a", "b")
    assert first.read_line() == "held"
    with psycopg.connect(database_address) as db:  # as if it were elsewhere
        db.execute("UPDATE leases SET note = replace(note, '\"host\": \"', '&other-')")
    first.kill()
    waited: list[str] = []
    began = time.monotonic()
    with open_locks(2.0).held(["b", "c"], waited.append):
        assert 0.5 < time.monotonic() - began < 5
    assert len(waited) == 1


def test_many_that_want_several_in_any_order_all_have_them_in_turn(
    open_locks: Callable[..., Locks],
) -> None:
    inside, most = [], []

    def work(n: int) -> None:
        names = [*["a", "b", "c", "d"][n % 4 :], "a"]
        with open_locks().held(names, lambda raised: None):
            inside.append(n)
            most.append(len(inside))
            time.sleep(0.02)
            inside.remove(n)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
    assert most == [1] * 8


def test_a_restart_of_the_database_loses_no_lock(
    database_server: PostgresServer, open_locks: Callable[..., Locks]
) -> None:
    waited: list[str] = []
    with open_locks(8.0).held(["a"], refuse):
        database_server.stop()
        database_server.start()
        waiting = threading.Thread(
            target=lambda: open_locks(8.0).held(["a"], waited.append).__enter__(), daemon=True
        )
        waiting.start()
        time.sleep(3)
        assert waiting.is_alive()
        assert [raised.partition(" on ")[0] for raised in waited] == [
            f"a: waiting for process {os.getpid()}"
        ]
    waiting.join(10)
    assert not waiting.is_alive()
