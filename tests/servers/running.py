"""Real servers on loopback, started for tests: ``make servers`` builds and installs them."""

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench_resources.config.sections.models import EMBEDDED_MODELS
from tests.fakes.ports import free_port

_BUILT = Path(os.environ.get("BENCH_SERVERS", ".venv-servers")).absolute()
LLAMA_SERVER = _BUILT / "llama.cpp" / "bin" / "llama-server"
LITELLM = _BUILT / "bin" / "litellm"
TRANSFORMERS = Path(sys.executable).with_name("transformers")

SEEING = Path(EMBEDDED_MODELS["tiny-vlm/step-6840"].place)
"""The shipped vision-language model."""

_START_TIMEOUT = 300.0  # s; longest wait for a server on a busy machine


@contextmanager
def start_server(command: Sequence[object], folder: Path, health: str = "/health") -> Iterator[str]:
    """Run a server until the block ends; yields its address.

    Args:
        command: The program and its options; ``{port}`` in them is replaced.
        folder: Gets the log, and is the home of Hugging Face's hub.
        health: A page that is there when the server is ready.
    """
    if not Path(str(command[0])).exists():
        pytest.skip(f"{command[0]} is not there: make servers")
    port = free_port()
    arguments = [str(argument).replace("{port}", str(port)) for argument in command]
    (folder / "hub").mkdir(parents=True, exist_ok=True)
    log = folder / "log"
    variables = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder), "OMP_NUM_THREADS": "1"}
    variables["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    environment = os.environ | variables
    with log.open("wb") as log_file:
        server = subprocess.Popen(arguments, env=environment, stdout=log_file, stderr=log_file)
    try:
        _wait_until_ready(f"http://127.0.0.1:{port}{health}", server, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait(30)


def _wait_until_ready(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    """Wait for a page of a server; the test fails with the end of its log if it does not come."""
    deadline = time.monotonic() + _START_TIMEOUT
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            time.sleep(0.2)
    pytest.fail(f"the server did not start: {log.read_text(errors='replace')[-2000:]}")
