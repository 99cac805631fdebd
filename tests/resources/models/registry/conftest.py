"""A tiny vision-language model, saved once."""

from pathlib import Path

import pytest

from tests.fakes.tiny_checkpoint import save_tiny_vlm


@pytest.fixture(scope="package")
def vlm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_vlm(tmp_path_factory.mktemp("vlm"))
