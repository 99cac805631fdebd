"""One checkpoint in this process and behind a real server on loopback: the same responses."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from bench_assets.core.schema.chat import Prompt, Request, Response
from bench_assets.core.schema.errors import ModelError
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


@pytest.mark.parametrize("size", [1, 4], ids=["alone", "in batches"])
def test_a_served_checkpoint_gives_the_same_responses(
    checkpoint: Path, released: Path, address: str, size: int
) -> None:
    prompts = [*MIXED, Prompt.of("several", "texts", "in a turn without an image")]
    requests = [Request(prompt=prompt) for prompt in prompts]
    responses = served(released, address, requests, server="transformers")
    local = responses_of(engine_of(checkpoint, max_tokens=MAX_TOKENS, batch_size=size), requests)
    assert outputs(responses) == outputs(local)


def test_a_server_without_a_name_follows_the_card_s_penalty(
    checkpoint: Path, released: Path, address: str
) -> None:
    requests = [Request(prompt=prompt) for prompt in MIXED]
    responses = served(released, address, requests)
    local = responses_of(engine_of(checkpoint, max_tokens=MAX_TOKENS), requests)
    assert outputs(responses) != outputs(local)


@pytest.mark.parametrize(
    ("path", "fields", "message"),
    [
        pytest.param("/v1", {"model": "n"}, "set model to a name that", id="another model"),
        pytest.param("/v1", {"server": "vllm"}, "list the field in omit", id="another's fields"),
        pytest.param("/v2", {}, "set base_url to the part", id="another path"),
    ],
)
def test_the_real_server_s_refusals_are_understood(
    released: Path, address: str, path: str, fields: dict[str, str], message: str
) -> None:
    base_url = address.removesuffix("/v1") + path
    with pytest.raises(ModelError, match=message):
        served(released, base_url, [Request(prompt=Prompt.of("?"))], **fields)
