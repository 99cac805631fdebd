"""A port that nothing answers at."""

import socket
from collections.abc import Iterator

import pytest


@pytest.fixture
def dead_port() -> Iterator[int]:
    """A port that refuses, and that nobody else can be given while the test runs."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and never listens
        yield taken.getsockname()[1]
