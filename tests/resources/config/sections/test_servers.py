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
def test_a_command_is_split_into_words_with_path_port_and_name_filled_in(serve, words):
    spec = ServerSpec.model_validate({"kind": "server", "path": "w", "serve": serve})
    assert spec.command(path="/w s", port=7, name="run/1@2") == words


@pytest.mark.parametrize(
    ("serve", "other_entries", "server"),
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
def test_a_server_is_known_by_its_command(serve, other_entries, server):
    section = {"kind": "server", "path": "w", "serve": serve, **other_entries}
    assert ServerSpec.model_validate(section).server == server


def command_digest(serve: str) -> str:
    section = {"kind": "server", "path": "w", "serve": serve}
    return ServerSpec.model_validate(section).command_digest


@pytest.mark.parametrize(
    "serve",
    [
        pytest.param(f"/opt/{VLLM}", id="the folder of the program"),
        pytest.param(VLLM.replace(" ", "  "), id="blanks"),
        f"{VLLM} --data-parallel-size 4",
        f"{VLLM} --data-parallel-size=4",
        f"{VLLM} -dp 4",
    ],
)
def test_what_changes_no_response_is_no_part_of_the_command_digest(serve: str) -> None:
    assert command_digest(serve) == command_digest(VLLM)


@pytest.mark.parametrize("option", ["--dtype float16", "--data-parallel-size-local 4"])
def test_other_options_are_part_of_the_command_digest(option: str) -> None:
    assert command_digest(f"{VLLM} {option}") != command_digest(VLLM)


def server_spec(**fields: Any) -> ServerSpec:
    section = {"kind": "server", "base_url": "http://s/v1", "model": "m", **fields}
    return ServerSpec.model_validate(section)


def sent_fields(request: Request, **fields: Any) -> dict[str, Any]:
    """The body of a request, without its messages."""
    with ChatServer() as server:
        ((_, response),) = engine(server.base_url, **fields).stream([request])
        assert not response.error
        (body,) = server.bodies
    del body["messages"]
    return body


@pytest.mark.parametrize(("fields", "body"), read_cases(__file__, "sent_fields.jsonl"))
def test_a_request_has_the_fields_that_the_server_knows(fields, body):
    assert sent_fields(Request(prompt=Prompt.of("?")), **fields) == body


@pytest.mark.parametrize(("fields", "suffix"), read_cases(__file__, "identities.jsonl"))
def test_the_identity_has_the_fields_that_change_responses(fields, suffix):
    """Cached responses are found by it: if it changes here, everything is requested again."""
    assert server_spec(**fields).identity_of() == f"server:http://s/v1|m{suffix}"


@pytest.mark.parametrize(("fields", "message"), read_cases(__file__, "refused_settings.jsonl"))
def test_settings_that_do_not_fit_the_server_are_refused(fields, message):
    with pytest.raises(ValidationError, match=message):
        server_spec(**fields)


def test_a_request_with_more_images_than_the_server_takes_is_not_sent() -> None:
    png = Image("png")
    turns = (Turn("user", (png, "a")), Turn("assistant", ("b",)), Turn("user", (png, png, "c")))
    with ChatServer() as server:
        requests = [Request(prompt=Prompt(turns)), Request(prompt=Prompt.of(png, png, "?"))]
        responses = dict(engine(server.base_url, max_images=2).stream(requests))
        assert server.n_requests == 1
    assert responses[0].error == "cannot be sent: 3 images, but max_images = 2"
    assert responses[1].error == ""
