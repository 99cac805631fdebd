"""Leases: one table of tests, run on a file and on PostgreSQL."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import HomeError
from bench_resources.cluster.postgres import PostgresDatabase
from bench_resources.storage.database import Database, SqliteDatabase
from bench_resources.storage.leases import Leases, claim
from bench_resources.storage.locks import LeaseLocks


@pytest.fixture(params=["a file", pytest.param("PostgreSQL", marks=pytest.mark.long)])
def another(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Database]:
    """Opens the same database as another process would."""
    if request.param == "a file":
        return lambda: SqliteDatabase(tmp_path / "home" / "leases.sqlite", "delete it")
    pytest.importorskip("psycopg", reason="make cluster-check installs psycopg")
    address = request.getfixturevalue("database_address")
    return lambda: PostgresDatabase(address, "V")


@pytest.fixture
def take(another: Callable[[], Database]) -> Callable[[float, str], bool]:
    return lambda seconds, name: claim(another(), seconds, name)


def test_a_claim_that_has_ended_is_taken_over_once(take: Callable[[float, str], bool]) -> None:
    assert take(0.2, "a")
    time.sleep(0.3)
    assert take(60, "a")
    assert not take(60, "a")


@pytest.mark.parametrize("is_old", [False, True], ids=["a new one", "one that has ended"])
def test_of_many_that_want_the_same_one_has_it(
    take: Callable[[float, str], bool], is_old: bool
) -> None:
    if is_old:
        assert take(0.1, "a")
        time.sleep(0.2)
    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(partial(take, 60), ["a"] * 8)) == 1


def test_an_owner_keeps_what_it_holds_and_takes_only_what_is_free(
    another: Callable[[], Database],
) -> None:
    first, second = Leases(another(), 60), Leases(another(), 60, note="second")
    assert first.take("ab") == first.take("ab") == {"a", "b"}
    assert second.take("abc") == {"c"}
    second.release(["a", "b", "c"])  # of which it holds one
    assert second.take("abc") == {"c"}
    assert first.renew() == 2
    holder = first.holder("c")
    assert holder
    assert (holder.owner, holder.note) == (second.owner, "second")
    assert first.holder("d") is None
    first.release()
    assert second.take("abc") == {"a", "b", "c"}


def test_a_lease_is_lost_when_it_ended_and_was_not_released(
    another: Callable[[], Database],
) -> None:
    holder, watcher = Leases(another(), 0.5), Leases(another(), 0.5)
    assert not watcher.is_lost("run:1")
    holder.take(["run:1"])
    assert not watcher.is_lost("run:1")
    holder.expire()
    time.sleep(0.6)
    assert watcher.is_lost("run:1")
    holder.release()
    assert not watcher.is_lost("run:1")


def test_a_database_that_is_refused_is_tried_once_for_a_lock(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stores: list[str] = []

    class Refused(SqliteDatabase):
        def prepare(self, store: str) -> None:
            stores.append(store)
            raise HomeError("connection refused")

    locks = LeaseLocks(Refused(Path("none"), ""))
    with pytest.raises(HomeError, match="connection refused"), locks.held(["table"], print):
        pass
    assert (stores, caplog.messages) == (["leases"], [])
