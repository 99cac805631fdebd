"""A real server, started for the shipped checkpoint: the responses of the local engine."""

import os
import sys
from pathlib import Path

import pytest

from bench_assets.core.schema.chat import Request
from resources.config.sections.models import EMBEDDED_MODELS
from resources.config.sections.servers import ServerSpec
from resources.models.managed.engine import ServedEngine
from tests.resources.models.transformers.tiny_engine import (
    ALBUM,
    MIXED,
    engine_of,
    responses_of,
    said,
)

pytestmark = pytest.mark.long  # it imports for seconds

MAX_TOKENS = 8


def test_a_started_server_gives_the_responses_of_the_local_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("uvicorn", reason="transformers[serving] is not installed")
    (tmp_path / "hf" / "hub").mkdir(parents=True)
    for name, value in {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf")}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    folder = Path(EMBEDDED_MODELS["tiny-vlm/step-2800"].place)
    spec = ServerSpec(
        kind="server",
        path=str(folder),
        serve="transformers serve {path} --device cpu --host 127.0.0.1 --port {port}",
        max_tokens=MAX_TOKENS,
        concurrency=4,
    )
    requests = [Request(prompt=prompt) for prompt in MIXED]
    served = ServedEngine(spec, "tiny", ALBUM.read, tmp_path)
    try:
        responses = responses_of(served, requests)
    finally:
        served.close()
    assert [response.error for response in responses] == [""] * len(requests)
    assert [response.note for response in responses] == [""] * len(requests)
    local = responses_of(engine_of(folder, max_tokens=MAX_TOKENS), requests)
    assert said(responses) == said(local)
