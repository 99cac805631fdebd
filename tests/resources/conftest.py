from collections.abc import Callable
from pathlib import Path

import pytest

from bench_resources.cluster.postgres import PostgresDatabase
from bench_resources.response_cache.store import ResponseStore
from tests.fakes.tiny_checkpoint import save_tiny_vlm


@pytest.fixture
def open_shared_responses(database_address: str) -> Callable[..., ResponseStore]:
    """Opens the response cache as another machine would: each with connections of its own."""
    return lambda **how: ResponseStore(PostgresDatabase(database_address, "BENCH_DATABASE"), **how)


@pytest.fixture(scope="session")
def vlm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny vision-language model, which no test changes."""
    return save_tiny_vlm(tmp_path_factory.mktemp("vlm"))
