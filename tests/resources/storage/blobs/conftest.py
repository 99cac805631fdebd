"""A store for the tests of what homes share."""

from collections.abc import Iterator
from itertools import count

import pytest

from tests.fakes.object_store import KEYS, make_bucket, moto


@pytest.fixture(scope="package")
def endpoint() -> Iterator[str]:
    with moto() as running:
        yield running


@pytest.fixture(scope="package")
def numbers() -> Iterator[int]:
    return count()


@pytest.fixture
def bucket(endpoint: str, numbers: Iterator[int], monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty bucket, whose keys are in the environment."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    return make_bucket(endpoint, f"bucket-{next(numbers)}")
