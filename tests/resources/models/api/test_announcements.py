"""What announcements of servers must do: one table, run on the tests' double and on PostgreSQL."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from resources.models.managed.service_discovery import Announcements, Board
from resources.storage.postgres import PostgresDatabase
from tests.postgres_server import PostgresServer, postgres
from tests.resources.models.api.boards import Wall


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with postgres() as running:
        yield running


@pytest.fixture(params=["double", pytest.param("PostgreSQL", marks=pytest.mark.long)])
def board(request: pytest.FixtureRequest) -> Callable[[str], Board]:
    """Opens what another home sees, of the servers for something."""
    if request.param == "double":
        return Wall().board
    pytest.importorskip("psycopg", reason="make cluster-check installs psycopg")
    address, test = request.getfixturevalue("server").address(), request.node.name
    return lambda served: shared(address, f"{test} {served}")


def shared(address: str, served: str, lease: float = 30.0) -> Announcements:
    return Announcements(PostgresDatabase(address, "V"), lambda: served, "m", lease)


A, B = "http://a:1/v1", "http://b:2/v1"


def test_others_see_what_one_says_and_it_does_not_see_itself(board: Callable[[str], Board]) -> None:
    one, other, elsewhere = board("w"), board("w"), board("x")
    assert one.others() == []
    one.say([B, A])
    assert (one.others(), other.others(), elsewhere.others()) == ([], [A, B], [])


def test_what_is_not_said_any_more_is_taken_back(board: Callable[[str], Board]) -> None:
    one, other = board("w"), board("w")
    one.say([A, B])
    one.say([B])
    assert other.others() == [B]
    one.say([])
    assert other.others() == []


def test_several_say_theirs(board: Callable[[str], Board]) -> None:
    one, other, third = board("w"), board("w"), board("w")
    one.say([A])
    other.say([B])
    assert (one.others(), other.others(), third.others()) == ([B], [A], [A, B])


def test_one_starts_at_a_time(board: Callable[[str], Board]) -> None:
    inside: list[str] = []
    waited: list[str] = []
    told = threading.Event()

    def wait(why: str) -> None:
        waited.append(why)
        told.set()

    def second() -> None:
        with board("w").starting(wait):
            inside.append("second")

    thread = threading.Thread(target=second)
    with board("w").starting(wait), board("x").starting(wait):
        thread.start()
        assert told.wait(30)
        inside.append("first")
    thread.join(30)
    assert inside == ["first", "second"]
    assert len(waited) == 1
    assert waited[0].startswith("servers for ")
    assert ": waiting for " in waited[0]


@pytest.mark.long
def test_of_whom_nothing_is_heard_counts_as_gone(server: PostgresServer) -> None:
    pytest.importorskip("psycopg", reason="make cluster-check installs psycopg")
    one, other = (shared(server.address(), "lease", 1.5) for _ in range(2))
    wait_until_up_for(server, 1.5)
    one.say([A])
    until = time.monotonic() + 4
    while time.monotonic() < until:  # who says it again and again
        one.say([A])
        assert other.others() == [A]
        time.sleep(0.1)
    time.sleep(2)
    assert other.others() == []
    one.say([A])
    assert other.others() == [A]


@pytest.mark.long
def test_an_address_is_that_of_the_last_that_said_it(server: PostgresServer) -> None:
    """Another server at the port of one that was killed, before its lease ends."""
    pytest.importorskip("psycopg", reason="make cluster-check installs psycopg")
    killed, other, new = (shared(server.address(), served) for served in ("old", "old", "new"))
    killed.say([A])
    assert other.others() == [A]
    new.say([A])
    assert other.others() == []


@pytest.mark.long
def test_a_database_that_was_away_has_none_called_gone() -> None:
    pytest.importorskip("psycopg", reason="make cluster-check installs psycopg")
    with postgres() as server:
        one, other = (shared(server.address(), "w", 3) for _ in range(2))
        one.say([A])
        server.stop()
        time.sleep(4)  # longer than a lease
        server.start()
        assert other.others() == [A]
        wait_until_up_for(server, 3.5)
        assert other.others() == []


def wait_until_up_for(server: PostgresServer, seconds: float) -> None:
    """Wait until a database that has just started calls those gone that say nothing."""
    import psycopg

    up = "SELECT extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())"
    with psycopg.connect(server.address()) as db:
        row = db.execute(up).fetchone()
    assert row
    time.sleep(max(0.0, seconds - float(row[0])))
