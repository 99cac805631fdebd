"""A database for the tests of what homes share."""

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from bench_resources.cluster.postgres import PostgresDatabase
from bench_resources.response_cache.store import ResponseStore
from tests.fakes.postgres_server import PostgresServer, postgres


@pytest.fixture(scope="package")
def server() -> Iterator[PostgresServer]:
    with postgres() as running:
        yield running


@pytest.fixture(scope="package")
def numbers() -> Iterator[int]:
    return count()


@pytest.fixture
def address(server: PostgresServer, numbers: Iterator[int]) -> str:
    """The address of an empty database."""
    import psycopg

    name = f"test{next(numbers)}"
    with psycopg.connect(server.address(), autocommit=True) as db:
        db.execute(f"CREATE DATABASE {name}")
    return server.address(name)


@pytest.fixture
def shared(address: str) -> Callable[..., ResponseStore]:
    """Opens the store as another machine would: each with connections of its own."""
    return lambda **how: ResponseStore(PostgresDatabase(address, "BENCH_DATABASE"), **how)
