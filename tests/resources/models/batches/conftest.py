"""A server that takes batches, in both formats, and a key for it."""

from collections.abc import Iterator

import pytest

from tests.resources.models.batches.stand_in import BatchServer


@pytest.fixture(params=["openai", "anthropic"])
def format_(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATCH_KEY", "k" * 20)


@pytest.fixture
def server() -> Iterator[BatchServer]:
    with BatchServer() as one:
        yield one
