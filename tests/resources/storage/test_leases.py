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
def open_database(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Database]:
    """Open the same database again, as another process would."""
    if request.param == "a file":
        return lambda: SqliteDatabase(tmp_path / "home" / "leases.sqlite", "delete it")
    pytest.importorskip("psycopg", reason="make cluster-check installs psycopg")
    address = request.getfixturevalue("database_address")
    return lambda: PostgresDatabase(address, "V")


@pytest.fixture
def take(open_database: Callable[[], Database]) -> Callable[[float, str], bool]:
    return lambda seconds, name: claim(open_database(), seconds, name)


def test_an_expired_claim_is_taken_over_once(take: Callable[[float, str], bool]) -> None:
    assert take(0.2, "a")
    time.sleep(0.3)
    assert take(60, "a")
    assert not take(60, "a")


@pytest.mark.parametrize("is_expired", [False, True], ids=["free", "expired"])
def test_one_of_many_concurrent_claims_succeeds(take, is_expired):
    if is_expired:
        assert take(0.1, "a")
        time.sleep(0.2)
    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(partial(take, 60), ["a"] * 8)) == 1


def test_an_owner_takes_free_leases_and_keeps_its_own(open_database):
    first, second = Leases(open_database(), 60), Leases(open_database(), 60, note="second")
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


def test_a_lease_is_lost_if_it_expires_without_release(open_database):
    holder, watcher = Leases(open_database(), 0.5), Leases(open_database(), 0.5)
    assert not watcher.is_lost("run:1")
    holder.take(["run:1"])
    assert not watcher.is_lost("run:1")
    holder.expire()
    time.sleep(0.6)
    assert watcher.is_lost("run:1")
    holder.release()
    assert not watcher.is_lost("run:1")


def test_a_lock_tries_an_unreachable_database_once(caplog: pytest.LogCaptureFixture) -> None:
    prepared_stores: list[str] = []

    class UnreachableDatabase(SqliteDatabase):
        def prepare(self, store: str) -> None:
            prepared_stores.append(store)
            raise HomeError("connection refused")

    locks = LeaseLocks(UnreachableDatabase(Path("none"), ""))
    with pytest.raises(HomeError, match="connection refused"), locks.held(["table"], print):
        pass
    assert (prepared_stores, caplog.messages) == (["leases"], [])
