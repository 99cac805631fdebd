"""Who answered stands beside a response, and is said once where it is another than was asked."""

import logging

import pytest

from bench_assets.core.schema.chat import Response
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.models.api.formats.response_body import ServedModelCheck
from tests.chat_server import Answer, ChatServer
from tests.resources.models.api.asking import ask, engine, requests_for
from tests.resources.models.api.formats.apis import whole


def naming(model: object) -> Answer:
    choice = {"index": 0, "message": {"content": "B"}, "finish_reason": "stop"}
    return whole({"model": model, "choices": [choice]})


@pytest.mark.parametrize(
    ("asked", "answered", "served", "is_said"),
    [
        pytest.param("gpt-4o", "gpt-4o", "gpt-4o", False, id="the same"),
        pytest.param("q", "q@main", "q@main", False, id="a revision of transformers serve"),
        pytest.param("gpt-4o", None, "", False, id="none is named"),
        pytest.param("gpt-4o", "gpt-4o-2024-08-06", "gpt-4o-2024-08-06", False, id="a date"),
        pytest.param("gpt-4", "gpt-4-0613", "gpt-4-0613", False, id="a short date"),
        pytest.param("llama3", "llama3:latest", "llama3:latest", False, id="the latest"),
        pytest.param("c-latest", "c-20241022", "c-20241022", False, id="what is the latest"),
        pytest.param("openai/gpt-4o", "gpt-4o", "gpt-4o", False, id="without its folder"),
        pytest.param("gpt-4o", "gpt-4o-mini", "gpt-4o-mini", True, id="a smaller one"),
        pytest.param("a-2024-05-13", "a-2024-08-06", "a-2024-08-06", True, id="another date"),
        pytest.param("big", "small", "small", True, id="another"),
        pytest.param("big", "small\x1b[2J\n", "small[2J", True, id="what cannot be seen is cut"),
        pytest.param("big", "x" * 10**6, "x" * 100, True, id="as is what is too long"),
    ],
)
def test_who_answered(
    caplog: pytest.LogCaptureFixture, asked: str, answered: str, served: str, is_said: bool
) -> None:
    spec = {"kind": "server", "base_url": "http://s/v1", "model": asked}
    answering = ServedModelCheck(ServerSpec.model_validate(spec))
    with caplog.at_level(logging.WARNING, "bench_assets.server"):
        found = {answering.identity(answered) for _ in range(3)}
    assert found == {served}
    assert [record.getMessage() for record in caplog.records] == (
        [f"requested the model {asked}, answered by {served}"] if is_said else []
    )


def test_it_goes_with_the_response_and_is_said_once_for_many(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with ChatServer(lambda _: naming("other")) as server:
        responses = ask(server.base_url, *"abcde")
    assert {(response.text, response.served) for response in responses} == {("B", "other")}
    assert caplog.text.count("answered by other") == 1


@pytest.mark.parametrize(
    ("api", "body"),
    [
        pytest.param(
            "anthropic",
            {
                "model": "other",
                "content": [{"type": "text", "text": "B"}],
                "stop_reason": "end_turn",
            },
            id="Anthropic",
        ),
        pytest.param(
            "gemini",
            {
                "modelVersion": "other",
                "candidates": [{"content": {"parts": [{"text": "B"}]}, "finishReason": "STOP"}],
            },
            id="Gemini",
        ),
    ],
)
def test_so_it_is_with_the_other_apis(api: str, body: object) -> None:
    with ChatServer(lambda _: whole(body)) as server:
        ((_, response),) = engine(server.base_url, format=api).stream(requests_for("?"))
    assert isinstance(response, Response)
    assert (response.text, response.served) == ("B", "other")


def test_the_build_of_a_server_is_a_part_of_who_answered() -> None:
    answer = Answer(text="B", model="gpt-4o-2024-08-06", fingerprint="fp_44709d6fcb")
    with ChatServer(lambda _: answer) as server:
        (response,) = ask(server.base_url, "a")
    assert response.served == "gpt-4o-2024-08-06 fp_44709d6fcb"
