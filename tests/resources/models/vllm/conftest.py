"""A stand-in for vLLM in place of the package, and a folder with a tiny model."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.resources.models.vllm import fake_vllm
from tests.tiny_checkpoint import save_tiny_vlm


@pytest.fixture(autouse=True)
def vllm(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[fake_vllm.LLM]]:
    for name, module in fake_vllm.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    yield fake_vllm.LLM.made
    fake_vllm.LLM.made.clear()


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_vlm(tmp_path_factory.mktemp("vlm"))
