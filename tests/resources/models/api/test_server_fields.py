"""What the settings of a server make of a request, and of a response's identity."""

from typing import Any

import pytest
from pydantic import ValidationError

from bench_assets.core.schema.chat import Image, Prompt, Request, Turn
from bench_resources.config.sections.servers import ServerSpec
from tests.fakes.chat_server import ChatServer
from tests.resources.models.api.asking import engine

USUAL = {"model": "m", "temperature": 0.0, "max_tokens": 1024}
AS_VLLM = {
    "top_p": 1.0,
    "top_k": -1,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}


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


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        pytest.param({}, USUAL, id="a server without a name gets nothing beside"),
        pytest.param(
            {"server": "vllm"}, USUAL | AS_VLLM, id="vLLM: a card's penalties and cuts are off"
        ),
        pytest.param(
            {"server": "lmdeploy"},
            USUAL | {"top_p": 1.0, "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0},
            id="LMDeploy: its default of 40 and a card's values are off",
        ),
        pytest.param(
            {"server": "llama.cpp"},
            USUAL
            | {"top_p": 1.0, "top_k": 0, "min_p": 0.0, "typical_p": 1.0, "repeat_penalty": 1.0}
            | {"dry_multiplier": 0.0, "xtc_probability": 0.0, "mirostat": 0}
            | {"presence_penalty": 0.0, "frequency_penalty": 0.0},
            id="llama.cpp: its samplers are off",
        ),
        pytest.param(
            {"server": "ollama"},
            USUAL | {"top_p": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0},
            id="Ollama: what its endpoint lets through is off",
        ),
        pytest.param(
            {"server": "openai", "max_tokens": 9},
            {"model": "m", "temperature": 0.0, "max_completion_tokens": 9},
            id="OpenAI: max_tokens under its new name",
        ),
        pytest.param(
            {"server": "openai", "omit": ["temperature"], "seed": 1},
            {"model": "m", "max_completion_tokens": 1024, "seed": 1},
            id="a reasoning model that refuses a temperature",
        ),
        pytest.param(
            {"max_tokens_field": "max_completion_tokens"},
            {"model": "m", "temperature": 0.0, "max_completion_tokens": 1024},
            id="the field for max_tokens can be chosen",
        ),
        pytest.param(
            {"server": "mistral", "seed": 4}, USUAL | {"random_seed": 4}, id="Mistral's seed"
        ),
        pytest.param(
            {"seed": 4, "omit": ["seed", "max_tokens"]},
            {"model": "m", "temperature": 0.0},
            id="any field of ours can be left out",
        ),
        pytest.param(
            {"server": "vllm", "decoding": "card", "seed": 1, "top_p": 0.5},
            {"model": "m", "max_tokens": 1024, "seed": 1},
            id="as the card says: nothing is said of how tokens are drawn",
        ),
        pytest.param(
            {"server": "vllm", "extra_body": {"top_k": 5, "top_n": 1}},
            USUAL | AS_VLLM | {"top_k": 5, "top_n": 1},
            id="further fields win over all of these",
        ),
    ],
)
def test_fields(fields: dict[str, Any], body: dict[str, Any]) -> None:
    assert sent(Request(prompt=Prompt.of("?")), **fields) == body


def test_a_request_s_own_temperature_is_sent_even_where_the_card_decides() -> None:
    body = sent(Request(prompt=Prompt.of("?"), temperature=0.7), decoding="card")
    assert body == {"model": "m", "max_tokens": 1024, "temperature": 0.7}


@pytest.mark.parametrize(
    ("fields", "rest"),
    [
        pytest.param({"server": "openai", "max_tokens": 5, "top_p": 0.5}, "", id="not decoding"),
        pytest.param(
            {"max_images": 2, "thinking_tags": ["[T]", "[/T]"]}, "", id="nor what is only ours"
        ),
        pytest.param(
            {"omit": ["top_p", "temperature"]}, "|-temperature|-top_p", id="what is left out"
        ),
        pytest.param(
            {"server": "ollama"},
            '|{"frequency_penalty":0.0,"presence_penalty":0.0}',
            id="what keeps a card out",
        ),
        pytest.param(
            {"server": "vllm", "decoding": "card", "chat_template_kwargs": {"a": 1}},
            '|{"chat_template_kwargs":{"a":1}}',
            id="the template's variables",
        ),
        pytest.param(
            {"extra_body": {"top_p": 0.5}}, '|{"top_p":0.5}', id="a decoding field out of line"
        ),
    ],
)
def test_identity(fields: dict[str, Any], rest: str) -> None:
    assert spec(**fields).identity_of() == f"server:http://s/v1|m{rest}"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        pytest.param(
            {"chat_template_kwargs": {"a": 1}},
            "work with vllm, sglang, lmdeploy, llama.cpp, transformers: set server",
            id="template variables for nobody knows whom",
        ),
        pytest.param(
            {"server": "openai", "chat_template_kwargs": {"a": 1}},
            "Other servers have their own fields, for extra_body",
            id="template variables for a server that has no template",
        ),
        pytest.param(
            {"server": "ollama", "decoding": "card"},
            'decoding = "card" does not work with ollama',
            id="a card that the server does not read",
        ),
        *(
            pytest.param(
                {"extra_body": {name: "x", "top_k": 1}},
                f"extra_body: {name} cannot be replaced: bench writes it in every request",
                id=f"another {name}",
            )
            for name in ("messages", "model", "stream", "n", "contents", "system")
        ),
        pytest.param(
            {"format": "gemini", "extra_body": {"generationConfig": {"candidateCount": 2}}},
            "extra_body: candidateCount cannot be replaced",
            id="two candidates of Gemini",
        ),
        pytest.param(
            {"omit": ["temprature"]}, "omit: not sent to this server: temprature", id="a typo"
        ),
        pytest.param(
            {"format": "anthropic", "seed": 1}, "seed does not work with anthropic", id="a seed"
        ),
        pytest.param(
            {"format": "gemini", "server": "vllm"}, 'need format = "openai"', id="two APIs"
        ),
    ],
)
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


def test_what_follows_a_question_mark_in_the_address_stays_behind_the_path() -> None:
    with ChatServer() as server:
        ((_, response),) = engine(f"{server.base_url}/?api-version=1").stream(
            [Request(prompt=Prompt.of("?"))]
        )
    assert response.text == "A"
