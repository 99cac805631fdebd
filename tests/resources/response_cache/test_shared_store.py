"""Machines that share responses: asked once, whoever dies, whatever becomes of the database."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa

from bench_assets.core.schema.chat import Response
from bench_assets.core.schema.errors import HomeError, SettingsError
from bench_resources.cluster.postgres import PostgresDatabase
from bench_resources.response_cache.caching_model import CachingModel
from bench_resources.response_cache.store import ResponseStore
from bench_resources.storage.schema import STORES, responses
from tests.fakes.postgres_server import PASSWORD, PostgresServer
from tests.resources.models.api.asking import requests_for
from tests.resources.response_cache.shared_process import ask
from tests.resources.response_cache.test_rows import Says, keep, named, older, row

CHECKOUT = Path(__file__).parents[3]

psycopg = pytest.importorskip("psycopg", reason="make cluster-check installs psycopg")
pytestmark = pytest.mark.long


def start_process(address: str, n: int, seconds: float, lease: float) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.resources.response_cache.shared_process",
         *map(str, (n, seconds, lease))],
        cwd=CHECKOUT, env={**os.environ, "BENCH_DATABASE": address},
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def n_leases(address: str) -> int:
    with psycopg.connect(address) as db:
        row = db.execute("SELECT count(*) FROM leases").fetchone()
    assert row
    return int(row[0])


def test_what_four_processes_request_at_once_is_sent_once(address: str) -> None:
    processes = [start_process(address, 400, 0.005, 60) for _ in range(4)]
    outputs = [process.communicate(timeout=120)[0].split("\n") for process in processes]
    counts = [int(lines[-2].removeprefix("in all ")) for lines in outputs]
    assert sum(counts) == 400
    assert n_leases(address) == 0


def test_a_long_request_is_renewed_and_sent_once(address: str) -> None:
    with ThreadPoolExecutor(2) as threads:  # a request of three leases
        each = list(threads.map(lambda _: ask(address, 1, 3.0, 1.0), range(2)))
    assert sorted(n for _, n in each) == [0, 1]
    assert [texts for texts, _ in each] == [["Q0"]] * 2


def test_a_request_of_a_process_that_was_killed_is_taken_over(address: str) -> None:
    process = start_process(address, 20, 0.1, 2.0)
    assert process.stdout
    for _ in range(5):
        assert process.stdout.readline() == "asked\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    began = time.monotonic()
    texts, n = ask(address, 20, 0.0, 2.0)
    assert texts == [f"Q{i}" for i in range(20)]
    assert 20 - 6 <= n <= 20 - 4  # what was being written or asked
    assert time.monotonic() - began < 10
    process.stdout.close()


def test_what_came_back_with_an_error_is_free_for_another(
    shared: Callable[..., ResponseStore],
) -> None:
    with pytest.raises(Exception, match="HTTP 500"):
        CachingModel("m", Says(Response(error="HTTP 500")), shared()).response(requests_for("a"))
    began = time.monotonic()
    engine = Says(Response(text="A"))
    assert CachingModel("m", engine, shared()).response(requests_for("a"))[0].text == "A"
    assert time.monotonic() - began < 5  # not the length of a lease


def test_a_restart_of_the_database_loses_nothing_and_asks_nothing_twice(
    server: PostgresServer, address: str
) -> None:
    def restart() -> None:
        time.sleep(1)
        server.stop()
        time.sleep(2)
        server.start()

    restarting = threading.Thread(target=restart)
    restarting.start()
    texts, n = ask(address, 300, 0.02, 60)
    restarting.join()
    assert (texts, n) == ([f"Q{i}" for i in range(300)], 300)
    assert ask(address, 300, 0.0, 60)[1] == 0
    assert n_leases(address) == 0


def test_who_waits_for_a_database_that_went_away_gets_a_message(
    server: PostgresServer, address: str, caplog: pytest.LogCaptureFixture
) -> None:
    def work(connection: sa.Connection) -> int:
        return int(connection.exec_driver_sql("SELECT 1").scalar_one())

    database = PostgresDatabase(address, "BENCH_DATABASE")
    assert database.read(work) == 1
    server.stop()
    try:
        with pytest.raises(HomeError, match="Connection refused"):
            database.write(work, patience=1)
    finally:
        server.start()
    (message,) = caplog.messages
    assert message.endswith("; retrying for 1 s")
    assert database.read(work) == 1


@pytest.mark.parametrize("raised", [KeyboardInterrupt, ZeroDivisionError])
def test_work_that_is_interrupted_is_rolled_back(address: str, raised: type[BaseException]) -> None:
    def work(connection: sa.Connection) -> None:
        connection.exec_driver_sql("CREATE TABLE half (done int)")
        raise raised

    database = PostgresDatabase(address, "BENCH_DATABASE")
    with pytest.raises(raised):
        database.write(work)
    assert database.read(lambda connection: sa.inspect(connection).get_table_names()) == []


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE responses SET text = 'another'",
        "UPDATE responses SET text = NULL",
        "UPDATE responses SET digest = ''",
        "UPDATE responses SET model = 'other'",
        "DELETE FROM responses",
    ],
)
def test_damaged_responses_are_requested_again_and_kept(
    address: str, shared: Callable[..., ResponseStore], sql: str
) -> None:
    n_requests = []
    for _ in range(2):
        engine = Says(Response(text="A"))
        responses = CachingModel("m", engine, shared()).response(requests_for("a", "b"))
        assert [response.text for response in responses] == ["A", "A"]
        n_requests.append(len(engine.requests))
        with psycopg.connect(address) as db:
            if len(n_requests) == 1:
                db.execute(sql)
    assert n_requests == [2, 2]
    engine = Says(Response(text="B"))
    CachingModel("m", engine, shared()).response(requests_for("a", "b"))
    assert not engine.requests


def test_many_may_make_the_tables_at_once(address: str) -> None:
    with ThreadPoolExecutor(8) as threads:
        opened = threads.map(lambda _: ResponseStore(PostgresDatabase(address, "V")), range(16))
        assert all(store.find([]) == {} for store in opened)


_SET_REVISION = "UPDATE bench_revisions SET version_num = %s WHERE version_num = %s"


def test_tables_of_a_newer_version_are_refused_and_stay(
    address: str, shared: Callable[..., ResponseStore]
) -> None:
    keep(shared(), row("a"))
    with psycopg.connect(address) as db:
        db.execute(_SET_REVISION, ("responses_0007", "responses_0002"))
    with pytest.raises(HomeError, match="written by a newer version of bench-assets"):
        shared()
    with psycopg.connect(address) as db:
        db.execute(_SET_REVISION, ("responses_0002", "responses_0007"))
    assert shared().find([named("a")])


def test_a_migrated_database_has_the_schema_of_a_new_one(address: str) -> None:
    """Alembic itself finds no difference between the tables and the schema of the program."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    database = PostgresDatabase(address, "V")
    for name in STORES:
        database.prepare(name)
    older(ResponseStore(database), noted="answered by m-2024")
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


@pytest.mark.parametrize(
    ("address_of", "complaint"),
    [
        pytest.param(
            lambda server: server.address(password="wrong secret"), "authentication failed",
            id="a wrong password",
        ),
        pytest.param(
            lambda server: server.address().replace("127.0.0.1", "no.such.host.invalid"),
            "resolve|translate|Name or service", id="no such computer",
        ),
    ],
)  # fmt: skip
def test_a_database_that_cannot_be_used_is_named_without_its_password(
    server: PostgresServer, address_of: Callable[[PostgresServer], str], complaint: str
) -> None:
    began = time.monotonic()
    with pytest.raises(HomeError, match=complaint) as why:
        ResponseStore(PostgresDatabase(address_of(server), "BENCH_DATABASE"))
    assert "BENCH_DATABASE" in str(why.value)
    assert PASSWORD not in str(why.value)
    assert "wrong" not in str(why.value)
    assert time.monotonic() - began < 9


@pytest.mark.parametrize(
    "text",
    ["not-an-address secret", "postgresql://u:secret@[h/d", "mysql://u:secret@h/d", "a=secret"],
)
def test_what_is_no_address_is_refused_and_not_shown(text: str) -> None:
    with pytest.raises((SettingsError, HomeError), match="V: not the address") as why:
        PostgresDatabase(text, "V")
    assert "secret" not in str(why.value)
