"""One checkpoint in this process and behind a real server on loopback: the same responses."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
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
)
from tests.servers.running import TRANSFORMERS, running

pytestmark = pytest.mark.long  # a server of its own, which imports for seconds

MAX_TOKENS = 8
CARD = {"repetition_penalty": 1.8, "do_sample": True, "top_k": 3}  # what a release may recommend


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_vlm(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def released(checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same checkpoint, with recommendations on its card."""
    folder = shutil.copytree(checkpoint, tmp_path_factory.mktemp("released") / "it")
    file = folder / "generation_config.json"
    file.write_bytes(orjson.dumps(orjson.loads(file.read_bytes()) | CARD))
    return folder


@pytest.fixture(scope="module")
def address(released: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running ``transformers serve``."""
    pytest.importorskip("uvicorn", reason="transformers[serving] is not installed")
    command = (TRANSFORMERS, "serve", released, "--device", "cpu", "--port", "{port}")
    with running(command, tmp_path_factory.mktemp("hf_home")) as found:
        yield found


def served(released: Path, address: str, requests: list[Request], **fields: Any) -> list[Response]:
    whole = {"kind": "server", "base_url": address, "model": str(released)} | fields
    spec = ServerSpec.model_validate({"max_tokens": MAX_TOKENS, "concurrency": 4} | whole)
    return responses_of(ServerEngine(spec, ALBUM.read), requests)


def test_a_served_checkpoint_gives_the_same_responses_whatever_its_card_recommends(
    checkpoint: Path, released: Path, address: str
) -> None:
    prompts = [*MIXED, Prompt.of("several", "texts", "in a turn without an image")]
    requests = [Request(prompt=prompt) for prompt in prompts]
    local = outputs(responses_of(engine_of(checkpoint, max_tokens=MAX_TOKENS), requests))
    assert outputs(served(released, address, requests, server="transformers")) == local
    assert outputs(served(released, address, requests)) != local  # it follows the card
