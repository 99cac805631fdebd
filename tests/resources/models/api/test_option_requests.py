import json
from collections.abc import Callable
from typing import Any

import pytest

from bench_assets.core.schema.chat import Prompt, Request, Response
from bench_assets.core.schema.errors import ModelError
from tests.fakes.chat_server import Answer, ChatServer
from tests.fakes.server_engines import engine

OPTIONS = ("B", "A", "C")


def ignores_all(_: dict[str, Any]) -> str:
    """Chat, as servers do that ignore unknown fields."""
    return "yes"


def vllm(body: dict[str, Any]) -> str:
    """Obey vLLM's field, as its documentation describes it."""
    choice = body.get("structured_outputs", {}).get("choice")
    return str(choice[-1]) if choice else "yes"


def llama_server(body: dict[str, Any]) -> str:
    """Obey a JSON schema; ignore other fields."""
    if "response_format" not in body:
        return "yes"
    schema = body["response_format"]["json_schema"]["schema"]
    return json.dumps({"answer": schema["properties"]["answer"]["enum"][-1]})


def openai(body: dict[str, Any]) -> str | Answer:
    """Obey a JSON schema; refuse vLLM's field, in OpenAI's words."""
    if "structured_outputs" in body:
        text = "Unrecognized request argument supplied: structured_outputs"
        return Answer(status=400, text=text)
    return llama_server(body)


def ask(answer: Callable[[dict[str, Any]], Any]) -> tuple[Response, list[dict[str, Any]]]:
    """Send one request; return its response, and the bodies that the server got."""
    request = Request(prompt=Prompt.of("Which?"), elicit="constrained", options=OPTIONS)
    with ChatServer(answer) as server:
        ((_, response),) = engine(server.base_url).stream([request])
        return response, list(server.bodies)


@pytest.mark.parametrize(
    ("answer", "field", "n_probes"),  # a field that is ignored is probed twice
    [
        (vllm, "structured_outputs", 1),
        (llama_server, "response_format", 3),
        (openai, "response_format", 2),
    ],
)
def test_an_option_is_requested_by_the_field_that_the_server_obeys(answer, field, n_probes):
    response, bodies = ask(answer)
    assert (response.error, response.text, response.note) == ("", "C", f"options by {field}")
    assert len(bodies) == n_probes + 1
    assert field in bodies[-1]


def test_an_option_has_room_whatever_max_tokens_is() -> None:
    """llama-server writes the object over lines, in more than eight tokens."""
    request = Request(prompt=Prompt.of("Which?"), elicit="constrained", options=OPTIONS)
    with ChatServer(llama_server) as server:
        [*engine(server.base_url, max_tokens=8).stream([request])]
    assert {body["max_tokens"] for body in server.bodies} == {32}


def test_an_option_after_separate_reasoning_is_read() -> None:
    def think_and_choose(body: dict[str, Any]) -> Answer:
        return Answer(text=vllm(body), message={"reasoning_content": "Hm, B? No: C."})

    response, _ = ask(think_and_choose)
    assert (response.error, response.text) == ("", "C")


def test_a_server_that_ignores_every_field_is_refused_in_one_sentence() -> None:
    with pytest.raises(
        ModelError, match=r"^m: the server does not support constrained \("
    ) as error:
        ask(ignores_all)
    assert "response_format: not one of the options: 'yes'" in str(error.value)


def test_a_wrong_key_is_not_reported_as_unsupported_options() -> None:
    with pytest.raises(ModelError, match=r"/v1: HTTP 401: no; set api_key_env to .* this server$"):
        ask(lambda _: Answer(status=401, text="no"))


def test_a_refusal_is_no_option() -> None:
    refusal = Answer(text="", finish_reason="content_filter")
    response, _ = ask(lambda body: refusal if "Which?" in str(body) else vllm(body))
    assert (response.text, response.refusal) == ("", "content filter")
