"""Databases, object stores and a checkpoint, made once."""

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from bench_resources.cluster.postgres import PostgresDatabase
from bench_resources.response_cache.store import ResponseStore
from tests.fakes.object_store import KEYS, make_bucket, moto
from tests.fakes.postgres_server import PostgresServer, postgres
from tests.fakes.tiny_checkpoint import save_tiny_vlm


@pytest.fixture(scope="session")
def database_server() -> Iterator[PostgresServer]:
    with postgres() as running:
        yield running


@pytest.fixture
def database_address(database_server: PostgresServer) -> str:
    """The address of an empty database."""
    import psycopg

    name = f"test{uuid4().hex}"
    with psycopg.connect(database_server.address(), autocommit=True) as db:
        db.execute(f"CREATE DATABASE {name}")
    return database_server.address(name)


@pytest.fixture
def open_shared_responses(database_address: str) -> Callable[..., ResponseStore]:
    """Opens the response cache as another machine would: each with connections of its own."""
    return lambda **how: ResponseStore(PostgresDatabase(database_address, "BENCH_DATABASE"), **how)


@pytest.fixture(scope="session")
def store_endpoint() -> Iterator[str]:
    with moto() as running:
        yield running


@pytest.fixture
def bucket(store_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty bucket, whose keys are in the environment."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    return make_bucket(store_endpoint, f"bucket-{uuid4().hex}")


@pytest.fixture(scope="session")
def vlm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny vision-language model, which no test changes."""
    return save_tiny_vlm(tmp_path_factory.mktemp("vlm"))
