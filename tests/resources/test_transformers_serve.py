"""One checkpoint in this process and behind a real server on loopback: the same replies."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench_assets.core.chat import Prompt, Request
from resources.openai_server import ServerEngine
from resources.server_spec import ServerSpec
from tests.resources.tiny_engine import ALBUM, MIXED, engine_of, replies_of, said
from tests.tiny_checkpoint import save_tiny_vlm

MAX_TOKENS = 8
START = 60.0  # s; longest wait for the server


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_vlm(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def address(checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running ``transformers serve``."""
    pytest.importorskip("uvicorn", reason="transformers[serving] is not installed")
    home = tmp_path_factory.mktemp("hf_home")
    (home / "hub").mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = [str(Path(sys.executable).with_name("transformers")), "serve", str(checkpoint)]
    with (home / "log").open("wb") as log:
        server = subprocess.Popen(
            [*program, "--device", "cpu", "--host", "127.0.0.1", "--port", str(port)],
            env=os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(home), "OMP_NUM_THREADS": "1"},
            stdout=log,
            stderr=log,
        )
    try:
        _wait(f"http://127.0.0.1:{port}/health", server, home / "log")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait(10)


def _wait(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START
    while time.monotonic() < until and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except (urllib.error.URLError, TimeoutError):
            time.sleep(0.1)
    pytest.fail(f"the server did not start: {log.read_text(errors='replace')[-2000:]}")


@pytest.mark.parametrize("size", [1, 4], ids=["alone", "in batches"])
def test_a_served_checkpoint_gives_the_same_replies(
    checkpoint: Path, address: str, size: int
) -> None:
    prompts = [*MIXED, Prompt.of("several", "texts", "in a turn without a picture")]
    requests = [Request(prompt=prompt) for prompt in prompts]
    spec = ServerSpec(
        kind="server", base_url=address, model=str(checkpoint), max_tokens=MAX_TOKENS, concurrency=4
    )
    served = replies_of(ServerEngine(spec, ALBUM.read), requests)
    local = replies_of(engine_of(checkpoint, max_tokens=MAX_TOKENS, batch_size=size), requests)
    assert said(served) == said(local)
