"""Prepares the tests of families before anything of transformers is imported."""

import pytest

from bench_resources.checkpoints.torchvision_operators import enable_torchvision


@pytest.fixture(scope="session", autouse=True)
def _torchvision() -> None:
    enable_torchvision()
