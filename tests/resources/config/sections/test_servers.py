"""What the settings of a server make of a request, and of a response's identity."""

from typing import Any

import pytest
from pydantic import ValidationError

from bench_assets.core.schema.chat import Image, Prompt, Request, Turn
from bench_resources.config.sections.servers import ServerSpec
from tests.cases import read_cases
from tests.fakes.chat_server import ChatServer
from tests.fakes.server_engines import engine

VLLM = "vllm serve {path} --port {port}"


@pytest.mark.parametrize(
    ("serve", "words"),
    [
        (VLLM, ["vllm", "serve", "/w s", "--port", "7"]),
        ("a --port={port} --as '{name} x' {path}", ["a", "--port=7", "--as", "run/1@2 x", "/w s"]),
        ("a {path} {port} '{\"image\": 4}'", ["a", "/w s", "7", '{"image": 4}']),
    ],
    ids=["the example", "inside of words", "JSON is no name"],
)
def test_the_words_of_a_command(serve: str, words: list[str]) -> None:
    spec = ServerSpec.model_validate({"kind": "server", "path": "w", "serve": serve})
    assert spec.command(path="/w s", port=7, name="run/1@2") == words


@pytest.mark.parametrize(
    ("serve", "more", "server"),
    [
        (VLLM, {}, "vllm"),
        ("env CUDA_VISIBLE_DEVICES=1 /opt/bin/vllm serve {path} --port {port}", {}, "vllm"),
        ("python -m vllm.entrypoints.openai.api_server --model {path} --port {port}", {}, "vllm"),
        ("llama-server -m {path} --port {port}", {}, "llama.cpp"),
        ("transformers serve {path} --port {port}", {}, "transformers"),
        ("./mine.sh {path} {port}", {}, ""),
        (VLLM, {"server": ""}, ""),
        (VLLM, {"format": "anthropic"}, ""),
    ],
)
def test_a_server_is_known_by_its_command(serve: str, more: dict[str, str], server: str) -> None:
    section = {"kind": "server", "path": "w", "serve": serve} | more
    assert ServerSpec.model_validate(section).server == server


def test_program_folder_and_copies_are_no_part_of_the_identity_and_other_options_are() -> None:
    def digest(serve: str) -> str:
        section = {"kind": "server", "path": "w", "serve": serve}
        return ServerSpec.model_validate(section).command_digest

    assert digest(VLLM) == digest(f"/opt/{VLLM}") == digest(VLLM.replace(" ", "  "))
    assert digest(VLLM) != digest(f"{VLLM} --dtype float16")
    for copies in ("--data-parallel-size 4", "--data-parallel-size=4", "-dp 4"):
        assert digest(f"{VLLM} {copies}") == digest(VLLM)
    assert digest(f"{VLLM} --data-parallel-size-local 4") != digest(VLLM)


def spec(**fields: Any) -> ServerSpec:
    whole = {"kind": "server", "base_url": "http://s/v1", "model": "m"} | fields
    return ServerSpec.model_validate(whole)


def sent(request: Request, **fields: Any) -> dict[str, Any]:
    with ChatServer() as server:
        ((_, response),) = engine(server.base_url, **fields).stream([request])
        assert not response.error
        (body,) = server.bodies
    del body["messages"]
    return body


@pytest.mark.parametrize(("fields", "body"), read_cases(__file__, "sent_fields.jsonl"))
def test_fields(fields: dict[str, Any], body: dict[str, Any]) -> None:
    assert sent(Request(prompt=Prompt.of("?")), **fields) == body


@pytest.mark.parametrize(("fields", "rest"), read_cases(__file__, "identities.jsonl"))
def test_identity(fields: dict[str, Any], rest: str) -> None:
    """Responses are remembered by it: a change here asks everything again."""
    assert spec(**fields).identity_of() == f"server:http://s/v1|m{rest}"


@pytest.mark.parametrize(("fields", "message"), read_cases(__file__, "refused_settings.jsonl"))
def test_settings_that_do_not_fit_the_server_are_refused(
    fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        spec(**fields)


def test_more_images_than_the_server_takes_are_not_sent() -> None:
    png = Image("png")
    turns = (Turn("user", (png, "a")), Turn("assistant", ("b",)), Turn("user", (png, png, "c")))
    with ChatServer() as server:
        requests = [Request(prompt=Prompt(turns)), Request(prompt=Prompt.of(png, png, "?"))]
        responses = dict(engine(server.base_url, max_images=2).stream(requests))
        assert server.n_requests == 1
    assert [responses[n].error for n in (0, 1)] == [
        "cannot be sent: 3 images, but max_images = 2",
        "",
    ]
