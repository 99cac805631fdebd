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

from bench_assets.core.schema.chat import Response
from bench_assets.core.schema.errors import HomeError, SettingsError
from resources.response_cache.caching_model import CachingModel
from resources.response_cache.postgres_leases import RequestLeases
from resources.response_cache.postgres_store import PostgresResponseStore
from resources.storage.postgres import Database
from tests.postgres_server import PASSWORD, PostgresServer
from tests.resources.models.api.asking import requests_for
from tests.resources.response_cache.shared_process import ask
from tests.resources.response_cache.test_port import Says, keep, named, row

CHECKOUT = Path(__file__).parents[3]

psycopg = pytest.importorskip("psycopg", reason="make cluster-check installs psycopg")
pytestmark = pytest.mark.long


def asking_process(address: str, n: int, seconds: float, lease: float) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.resources.response_cache.shared_process",
         *map(str, (n, seconds, lease))],
        cwd=CHECKOUT, env={**os.environ, "BENCH_DATABASE": address},
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def n_leases(address: str) -> int:
    with psycopg.connect(address) as db:
        row = db.execute("SELECT count(*) FROM bench_askings").fetchone()
    assert row
    return int(row[0])


def test_what_four_processes_ask_at_once_is_asked_once(address: str) -> None:
    processes = [asking_process(address, 400, 0.005, 60) for _ in range(4)]
    said = [process.communicate(timeout=120)[0].split("\n") for process in processes]
    asked = [int(lines[-2].removeprefix("in all ")) for lines in said]
    assert sum(asked) == 400
    assert n_leases(address) == 0


def test_stores_that_overlap_each_ask_their_own_part_and_wait_for_no_more(address: str) -> None:
    with ThreadPoolExecutor(3) as threads:
        each = list(threads.map(lambda n: ask(address, n, 0.002, 60), (50, 100, 150)))
    assert sum(n for _, n in each) == 150
    assert [len(said) for said, _ in each] == [50, 100, 150]


def test_a_long_request_is_renewed_and_asked_once(address: str) -> None:
    with ThreadPoolExecutor(2) as threads:  # a request of three leases
        each = list(threads.map(lambda _: ask(address, 1, 3.0, 1.0), range(2)))
    assert sorted(n for _, n in each) == [0, 1]
    assert [said for said, _ in each] == [["Q0"]] * 2


def test_a_request_of_a_process_that_was_killed_is_taken_over(address: str) -> None:
    process = asking_process(address, 20, 0.1, 2.0)
    assert process.stdout
    for _ in range(5):
        assert process.stdout.readline() == "asked\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    began = time.monotonic()
    said, n = ask(address, 20, 0.0, 2.0)
    assert said == [f"Q{i}" for i in range(20)]
    assert 20 - 6 <= n <= 20 - 4  # what was being written or asked
    assert time.monotonic() - began < 10
    process.stdout.close()


def test_a_claim_that_is_made_again_has_what_it_had_and_another_has_none(
    address: str, shared: Callable[..., PostgresResponseStore]
) -> None:
    shared()
    keys = [named(text) for text in "abc"]
    with Database(address, "V").line() as line:
        first, second = RequestLeases(line, 60), RequestLeases(line, 60)
        assert first.claim(keys[:2]) == first.claim(keys[:2]) == set(keys[:2])
        assert second.claim(keys) == {keys[2]}
        second.give_up(keys)  # of which it may end its own alone
        assert second.claim(keys) == {keys[2]}


def test_what_came_back_with_an_error_is_free_for_another(
    shared: Callable[..., PostgresResponseStore],
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
    said, n = ask(address, 300, 0.02, 60)
    restarting.join()
    assert (said, n) == ([f"Q{i}" for i in range(300)], 300)
    assert ask(address, 300, 0.0, 60)[1] == 0
    assert n_leases(address) == 0


@pytest.mark.parametrize("raised", [KeyboardInterrupt, ZeroDivisionError])
def test_what_ends_work_in_the_middle_comes_out_and_its_connection_is_given_up(
    address: str, raised: type[BaseException]
) -> None:
    def work(db: psycopg.Connection) -> None:
        db.execute("CREATE TABLE half (done int)")
        given_up.append(db)
        raise raised

    given_up: list[psycopg.Connection] = []
    with Database(address, "BENCH_DATABASE").line() as line:
        with pytest.raises(raised):
            line.run(work)
        assert given_up[0].closed
        assert line.run(lambda db: db.execute("SELECT to_regclass('half') AS it").fetchone()) == {
            "it": None
        }


@pytest.mark.parametrize(
    "sql",
    [
        'UPDATE bench_responses SET said = \'{"text": "another"}\'',
        "UPDATE bench_responses SET said = 'null'",
        "UPDATE bench_responses SET said = '[1]'",
        "UPDATE bench_responses SET digest = ''",
        "UPDATE bench_responses SET model = 'other'",
        "DELETE FROM bench_responses",
    ],
)
def test_damaged_responses_are_asked_again_and_kept(
    address: str, shared: Callable[..., PostgresResponseStore], sql: str
) -> None:
    asked = []
    for _ in range(2):
        engine = Says(Response(text="A"))
        responses = CachingModel("m", engine, shared()).response(requests_for("a", "b"))
        assert [response.text for response in responses] == ["A", "A"]
        asked.append(len(engine.asked))
        with psycopg.connect(address) as db:
            if len(asked) == 1:
                db.execute(sql)
    assert asked == [2, 2]
    engine = Says(Response(text="B"))
    CachingModel("m", engine, shared()).response(requests_for("a", "b"))
    assert not engine.asked


def test_many_may_make_the_tables_at_once(address: str) -> None:
    with ThreadPoolExecutor(8) as threads:
        opened = threads.map(lambda _: PostgresResponseStore(Database(address, "V")), range(16))
        assert all(store.find([]) == {} for store in opened)


def test_tables_of_a_newer_version_are_refused_and_stay(
    address: str, shared: Callable[..., PostgresResponseStore]
) -> None:
    keep(shared(), row("a"))
    with psycopg.connect(address) as db:
        db.execute("UPDATE bench_versions SET version = 7")
    with pytest.raises(HomeError, match=r"newer version .*of version 7, known is 1"):
        shared()
    with psycopg.connect(address) as db:
        db.execute("UPDATE bench_versions SET version = 1")
    assert shared().find([named("a")])


@pytest.mark.parametrize(
    ("address_of", "complaint"),
    [
        pytest.param(
            lambda server: server.address(password="wrong secret"), "authentication failed",
            id="a wrong password",
        ),
        pytest.param(lambda server: server.address("nowhere"), "does not exist", id="no database"),
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
        PostgresResponseStore(Database(address_of(server), "BENCH_DATABASE"))
    assert "BENCH_DATABASE" in str(why.value)
    assert PASSWORD not in str(why.value)
    assert "wrong" not in str(why.value)
    assert time.monotonic() - began < 9


@pytest.mark.parametrize(
    "text",
    ["not-an-address secret", "postgresql://u:secret@[h/d", "mysql://u:secret@h/d", "a=secret"],
)
def test_what_is_no_address_is_refused_and_not_told(text: str) -> None:
    with pytest.raises((SettingsError, HomeError), match="V holds no address") as why:
        Database(text, "V")
    assert "secret" not in str(why.value)
