import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from bench_assets.core.schema.errors import ModelError, SettingsError
from bench_assets.core.text.redaction import Secrets
from bench_resources.redaction.responses import RedactingEngine
from tests.cases import read_cases
from tests.fakes.chat_server import Answer, ChatServer
from tests.fakes.echoing_server import BROKEN, FAILURES, RESPONSES, Echo, EchoingServer
from tests.fakes.home import models_of
from tests.fakes.server_engines import ask, engine, requests_for

KEY = "sk-Qu1te/a+l0ng=key~0f-m1ne"
WRITTEN_KEY = "a-k3y-th4t-w4s-wr1tten"


def responses_of(home: Path, url: str, *texts: str) -> list[str]:
    """Texts of responses of a server, through the response cache as in an evaluation."""
    section = (
        f'kind = "server"\nmodel = "m"\nbase_url = "{url}"\nextra_body.api_key = "{WRITTEN_KEY}"'
    )
    with models_of(home, f"[models.m]\n{section}\n").open("m") as model:
        return [response.text for response in model.response(requests_for(*texts))]


def test_an_identity_with_a_key_is_stored_without_it(tmp_path: Path) -> None:
    with ChatServer("B") as server:
        url = f"{server.base_url}?key={WRITTEN_KEY}"
        assert responses_of(tmp_path, url, "1", "2", "3") == ["B"] * 3
        assert responses_of(tmp_path, url, "1", "2", "3") == ["B"] * 3
        assert server.n_requests == 3  # the others were found by their identity
    stored = b"".join(file.read_bytes() for file in tmp_path.glob("responses.sqlite*"))
    assert stored
    assert WRITTEN_KEY.encode() not in stored


@pytest.mark.parametrize(
    "secrets", [Secrets(), Secrets({"4n0ther-k3y-Q7x": "MY_KEY"})], ids=["none", "another"]
)
def test_an_identity_without_a_secret_is_unchanged(secrets: Secrets) -> None:
    plain = engine("http://127.0.0.1:1/v1?api-version=1", extra_body={"prompt_key_frames": 3})
    assert RedactingEngine(plain, secrets).identity == plain.identity


def key_spellings(key: str) -> Iterator[str]:
    """Spellings of a key that would reveal it, whole or cut."""
    yield from (key, key[:12], key[-12:], quote(key, safe=""), json.dumps(key)[1:-1])
    yield key.replace("/", "\\/")


def visible_texts(echo: Echo, caplog: pytest.LogCaptureFixture, key: str) -> str:
    """The response or error of a request to an echoing server, and what was logged."""
    with EchoingServer([echo]) as server:
        try:
            (response,) = ask(server.base_url, "?", api_key_env="MY_KEY", max_tries=2, timeout=5)
            visible = repr(response)
        except ModelError as error:
            visible = repr(error)
        assert server.keys[0] == key
    return visible + caplog.text


def test_text_beside_a_key_is_shown(caplog, monkeypatch):
    monkeypatch.setenv("MY_KEY", f" {KEY}\t")  # blanks around a key are not part of it
    assert "'B, and your key is ***'" in visible_texts(RESPONSES["a text"], caplog, KEY)
    assert "Hello ***" in visible_texts(FAILURES["a page"], caplog, KEY)
    assert "the connection broke" in visible_texts(BROKEN["a header without a colon"], caplog, KEY)


@pytest.mark.parametrize("word", ["x", "test", "EMPTY", "none", "1234"])
def test_a_common_word_in_place_of_a_key_is_not_redacted(word, monkeypatch):
    monkeypatch.setenv("MY_KEY", word)
    with ChatServer(lambda _: Answer(status=400, text="an extra test of 1234 is EMPTY")) as server:
        (response,) = ask(server.base_url, "?", api_key_env="MY_KEY")
    assert response.error == "HTTP 400: an extra test of 1234 is EMPTY"


@pytest.mark.parametrize(("value", "message"), read_cases(__file__, "refused_keys.jsonl"))
def test_a_key_that_no_header_can_hold_is_refused_with_its_variable(value, message, monkeypatch):
    monkeypatch.setenv("MY_KEY", value)
    with ChatServer() as server:
        with pytest.raises(SettingsError, match=message) as raised:
            ask(server.base_url, "?", api_key_env="MY_KEY")
        assert server.n_requests == 0
    assert "1234567" not in str(raised.value)


def test_keys_in_an_address_or_a_field_are_redacted(caplog: pytest.LogCaptureFixture) -> None:
    field_key = KEY[::-1]
    with ChatServer(lambda _: Answer(status=500, text=f"{KEY} and {field_key}")) as server:
        url = f"{server.base_url}?api-version=2024-10-21&subscription-key={quote(KEY, safe='')}"
        body = {"metadata": {"api_key": field_key}}
        (response,) = ask(url, "?", extra_body=body, max_tries=2)
        assert server.bodies[0]["metadata"]["api_key"] == field_key
    assert response.error == "HTTP 500: *** and *** (tries: 2)"
    assert "api-version=2024-10-21&subscription-key=***" in caplog.text
    for key in (KEY, field_key):
        assert [spelling for spelling in key_spellings(key) if spelling in caplog.text] == []
