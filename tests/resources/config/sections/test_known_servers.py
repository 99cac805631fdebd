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


def each_stand_in_with(field: str) -> pytest.MarkDecorator:
    """Parametrize a test by the stand-ins that have this field of ``StandIn``."""
    chosen = [stand_in for stand_in in STAND_INS if getattr(stand_in, field)]
    return pytest.mark.parametrize("stand_in", chosen, ids=lambda stand_in: stand_in.name)


FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "BMP")


def encode_image(image_format: str) -> bytes:
    return saved(PILImage.new("RGB", (2, 2)), image_format)


def responses_of(
    stand_in: StandIn, *prompts: Prompt, key: str = "sk-1", **fields: Any
) -> list[Response]:
    """Send each prompt once, with these fields of the model's section beside the usual ones."""

    def answer(body: dict[str, Any]) -> Answer:
        bodies.append(body)
        return stand_in.answer(body, server.headers[-1])

    bodies: list[dict[str, Any]] = []
    with ChatServer(answer) as server, pytest.MonkeyPatch.context() as environment:
        environment.setenv("A_KEY", key)
        section = {
            "kind": "server",
            "server": stand_in.name,
            "base_url": server.base_url,
            "model": "m",
            "api_key_env": "A_KEY",
            **fields,
        }
        spec = ServerSpec.model_validate(section)
        engine = ServerEngine(spec, encode_image, base_delay=0.001)
        try:
            responses = dict(engine.stream([Request(prompt=prompt) for prompt in prompts]))
        finally:
            assert len(bodies) == len(prompts), "each request is sent once"
    return [responses[position] for position in range(len(prompts))]


def prompt_with_images(text: str) -> Prompt:
    """A text behind an image of each format."""
    return Prompt.of(*map(Image, FORMATS), text)


def test_every_named_server_has_a_stand_in_and_a_row_in_the_docs() -> None:
    names = SERVERS.keys() - {""}
    assert {stand_in.name for stand_in in STAND_INS} == names
    page = (Path(__file__).parents[4] / "docs" / "servers.md").read_text(encoding="utf-8")
    table = page.partition("| `server` | changes")[2].partition("\n\n")[0]
    cells = " ".join(re.findall(r"^\| (`[^|]+) \|", table, re.MULTILINE))
    assert set(re.findall(r"`([\w.]+)`", cells)) == names


@each_stand_in_with("response")
def test_a_request_is_accepted_and_its_response_is_read(stand_in: StandIn) -> None:
    takes_template_kwargs = SERVERS[stand_in.name].takes_template_kwargs
    template_kwargs = {"enable_thinking": False} if takes_template_kwargs else {}
    (response,) = responses_of(
        stand_in,
        prompt_with_images("?"),
        seed=1,
        top_p=0.9,
        temperature=0.5,
        chat_template_kwargs=template_kwargs,
    )
    assert (response.error, response.text, response.finish_reason) == ("", stand_in.text, "stop")
    # As every stand-in counts them.
    assert (response.prompt_tokens, response.completion_tokens) == (7, 3)


@each_stand_in_with("too_long")
def test_a_prompt_that_is_too_long_is_an_error_of_that_request_alone(stand_in: StandIn) -> None:
    long, short = responses_of(
        stand_in, prompt_with_images("long"), prompt_with_images("?"), concurrency=1
    )
    assert long.error.startswith("too long for the model's context (HTTP ")
    assert short.text == stand_in.text


@each_stand_in_with("bad_key")
def test_a_wrong_key_is_refused_at_once_and_not_shown(stand_in: StandIn) -> None:
    with pytest.raises(ModelError, match="set api_key_env to") as raised:
        responses_of(stand_in, prompt_with_images("?"), key="sk-2xQ7b9Zw4Lk1")
    assert "2xQ7b9Zw4Lk1" not in str(raised.value)
