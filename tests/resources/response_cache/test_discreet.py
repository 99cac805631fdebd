"""Responses are stored without secrets."""

from pathlib import Path

import pytest

from bench_assets.core.text.redaction import Secrets
from bench_resources.config.bench_toml import load_settings
from bench_resources.images.store import ImageStore
from bench_resources.models.registry.opening import Models
from bench_resources.redaction.responses import RedactingEngine
from tests.fakes.chat_server import ChatServer
from tests.resources.models.api.asking import engine, requests_for

KEY = "a-k3y-th4t-w4s-wr1tten"


def responses_of(home: Path, url: str, *texts: str) -> list[str]:
    """Ask as an evaluation does."""
    section = f'kind = "server"\nmodel = "m"\nbase_url = "{url}"\nextra_body.api_key = "{KEY}"'
    (home / "bench.toml").write_text(f"[models.m]\n{section}\n")
    models = Models(
        settings=load_settings(home),
        image_store=ImageStore(folder=str(home / "images")),
    )
    with models.open("m") as model:
        return [response.text for response in model.response(requests_for(*texts))]


def test_an_identity_with_a_key_is_stored_without_it(tmp_path: Path) -> None:
    with ChatServer("B") as server:
        url = f"{server.base_url}?key={KEY}"
        for _ in range(2):
            assert responses_of(tmp_path, url, "1", "2", "3") == ["B"] * 3
        assert server.n_requests == 3
        (tmp_path / "bench.toml").unlink()
        assert KEY.encode() not in b"".join(one.read_bytes() for one in tmp_path.glob("re*"))


@pytest.mark.parametrize("secrets", [Secrets(), Secrets({"4n0ther-k3y-Q7x": "MY_KEY"})])
def test_an_identity_without_a_secret_is_what_it_was(secrets: Secrets) -> None:
    at = engine("http://127.0.0.1:1/v1?api-version=1", extra_body={"prompt_key_frames": 3})
    assert RedactingEngine(at, secrets).identity == at.identity
