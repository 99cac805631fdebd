"""One checkpoint in this process and behind a real server on loopback: the same responses."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench_assets.core.schema.chat import Prompt, Request, Response
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.models.api.engine import ServerEngine
from tests.fakes.tiny_checkpoint import save_tiny_vlm
from tests.resources.models.transformers.tiny_engine import (
    ALBUM,
    MIXED,
    engine_of,
    outputs,
    responses_of,
    set_entries,
)
from tests.servers.running import TRANSFORMERS, start_server

pytestmark = pytest.mark.long  # a server of its own, which imports for seconds

MAX_TOKENS = 8
RECOMMENDED = {"repetition_penalty": 1.8, "do_sample": True, "top_k": 3}  # as releases do


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_vlm(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def released_checkpoint(checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same checkpoint, with recommended generation settings."""
    folder = shutil.copytree(checkpoint, tmp_path_factory.mktemp("released") / "it")
    set_entries(folder / "generation_config.json", **RECOMMENDED)
    return folder


@pytest.fixture(scope="module")
def address(released_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running ``transformers serve``."""
    pytest.importorskip("uvicorn", reason="transformers[serving] is not installed")
    command = (TRANSFORMERS, "serve", released_checkpoint, "--device", "cpu", "--port", "{port}")
    with start_server(command, tmp_path_factory.mktemp("hf_home")) as base_url:
        yield base_url


def responses_of_server(
    address: str, model: Path, requests: list[Request], **fields: Any
) -> list[Response]:
    section = {"kind": "server", "base_url": address, "model": str(model)} | fields
    spec = ServerSpec.model_validate({"max_tokens": MAX_TOKENS, "concurrency": 4} | section)
    return responses_of(ServerEngine(spec, ALBUM.read), requests)


def test_a_served_checkpoint_gives_the_same_responses_whatever_its_release_recommends(
    checkpoint: Path, released_checkpoint: Path, address: str
) -> None:
    prompts = [*MIXED, Prompt.of("several", "texts", "in a turn without an image")]
    requests = [Request(prompt=prompt) for prompt in prompts]
    local = outputs(responses_of(engine_of(checkpoint, max_tokens=MAX_TOKENS), requests))

    served = responses_of_server(address, released_checkpoint, requests, server="transformers")
    assert outputs(served) == local
    # Without ``server`` the recommended settings are not overridden.
    recommended = responses_of_server(address, released_checkpoint, requests)
    assert outputs(recommended) != local
