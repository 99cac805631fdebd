"""What claims must do: one table, run on files and on the database."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from resources.storage.leases import FileLeases, Leases, PostgresLeases
from resources.storage.postgres import Database


@pytest.fixture(params=["files", pytest.param("PostgreSQL", marks=pytest.mark.long)])
def claims(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[float], Leases]:
    """Opens the same claims, as another process would, that hold for some seconds."""
    if request.param == "files":
        return lambda seconds: FileLeases(tmp_path / "home" / "claims", seconds)
    pytest.importorskip("psycopg", reason="make cluster-check installs psycopg")
    address = request.getfixturevalue("address")
    return lambda seconds: PostgresLeases(Database(address, "V"), seconds)


def test_what_one_has_taken_no_other_takes(claims: Callable[[float], Leases]) -> None:
    assert claims(60).take("a@0/codis")
    assert claims(60).take("a@0/blink")
    assert not claims(60).take("a@0/codis")
    one = claims(60)
    assert [one.take("a@0/multi") for _ in range(3)] == [True, False, False]


@pytest.mark.parametrize("name", ["", "/" * 300, "..", "ä\0\n' %s"])
def test_any_name_can_be_claimed(claims: Callable[[float], Leases], name: str) -> None:
    assert claims(60).take(name)
    assert not claims(60).take(name)


def test_what_was_taken_too_long_ago_is_taken_over_once(claims: Callable[[float], Leases]) -> None:
    assert claims(60).take("a")
    time.sleep(0.3)
    assert not claims(60).take("a")
    assert claims(0.2).take("a")
    assert not claims(60).take("a")


@pytest.mark.parametrize("is_old", [False, True], ids=["a new one", "one that is too old"])
def test_of_many_that_want_the_same_one_has_it(
    claims: Callable[[float], Leases], is_old: bool
) -> None:
    seconds = 60.0
    if is_old:
        assert claims(60).take("a")
        seconds = 0.5
        time.sleep(seconds)
    each = [claims(seconds) for _ in range(8)]
    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(lambda one: one.take("a"), each)) == 1
