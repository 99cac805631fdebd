"""Every kind of server that has a name: what it is sent, and how what it says is understood."""

import re
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as PILImage

from bench_assets.core.schema.chat import Image, Prompt, Request, Response
from bench_assets.core.schema.errors import ModelError
from bench_resources.config.sections.known_servers import SERVERS
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.models.api.engine import ServerEngine
from tests.fakes.chat_server import Answer, ChatServer
from tests.fakes.written_images import saved
from tests.resources.models.api.stand_ins import STAND_INS, StandIn


def having(answer: str) -> pytest.MarkDecorator:
    """Every stand-in that has this answer."""
    chosen = [stand_in for stand_in in STAND_INS if getattr(stand_in, answer)]
    return pytest.mark.parametrize("stand_in", chosen, ids=lambda one: one.name)


FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "BMP")


def image(image_format: str) -> bytes:
    return saved(PILImage.new("RGB", (2, 2)), image_format)


def ask(stand_in: StandIn, *prompts: Prompt, key: str = "sk-1", **spec: Any) -> list[Response]:
    def answer(body: dict[str, Any]) -> Answer:
        bodies.append(body)
        return stand_in.answer(body, server.headers[-1])

    bodies: list[dict[str, Any]] = []
    with ChatServer(answer) as server, pytest.MonkeyPatch.context() as environment:
        environment.setenv("A_KEY", key)
        fields = {"kind": "server", "server": stand_in.name, "base_url": server.base_url} | spec
        whole = ServerSpec.model_validate({"model": "m", "api_key_env": "A_KEY"} | fields)
        engine = ServerEngine(whole, image, base_delay=0.001)
        try:
            responses = dict(engine.stream([Request(prompt=prompt) for prompt in prompts]))
        finally:
            assert len(bodies) == len(prompts), "each is asked once"
    return [responses[position] for position in range(len(prompts))]


def seen(text: str) -> Prompt:
    return Prompt.of(*map(Image, FORMATS), text)


def test_every_name_has_its_stand_in_and_its_row_in_the_table() -> None:
    names = SERVERS.keys() - {""}
    assert {stand_in.name for stand_in in STAND_INS} == names
    table = (Path(__file__).parents[4] / "docs" / "servers.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([\w.]+)` \|", table, re.MULTILINE)) == names


@having("response")
def test_it_takes_what_it_is_sent_and_its_response_is_read(stand_in: StandIn) -> None:
    settings: dict[str, Any] = {"seed": 1, "top_p": 0.9, "temperature": 0.5}
    if SERVERS[stand_in.name].takes_template_kwargs:
        settings["chat_template_kwargs"] = {"enable_thinking": False}
    (response,) = ask(stand_in, seen("?"), **settings)
    assert (response.error, response.text, response.finish_reason) == ("", stand_in.text, "stop")
    assert (response.prompt_tokens, response.completion_tokens) == (7, 3)


@having("too_long")
def test_what_is_too_long_is_the_error_of_its_request_and_sent_once(stand_in: StandIn) -> None:
    long, short = ask(stand_in, seen("long"), seen("?"), concurrency=1)
    assert long.error.startswith("too long for the model's context (HTTP ")
    assert short.text == stand_in.text


@having("bad_key")
def test_a_wrong_key_is_refused_at_once_and_not_shown(stand_in: StandIn) -> None:
    with pytest.raises(ModelError, match="set api_key_env to") as refused:
        ask(stand_in, seen("?"), key="sk-2xQ7b9Zw4Lk1")
    assert "2xQ7b9Zw4Lk1" not in str(refused.value)
