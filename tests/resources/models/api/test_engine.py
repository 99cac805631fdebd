"""What the server engine sends and reads; ``test_chat_session`` has when it tries again."""

import base64
import re
import threading
from typing import Any

import pytest

from bench_assets.core.schema.chat import Image, Prompt, Request, Turn
from tests.fakes.chat_server import ChatServer, texts
from tests.fakes.server_engines import IMAGES, ask, engine, requests_for

PNG = "data:image/png;base64," + base64.b64encode(IMAGES["png"]).decode()


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


@pytest.mark.parametrize(
    ("spec", "request_", "expected"),
    [
        pytest.param(
            {"temperature": 0.7, "top_p": 0.9, "max_tokens": 5, "seed": 10},
            Request(prompt=Prompt.of("Hi"), sample=2),
            {
                "messages": [user("Hi")],
                "temperature": 0.7,
                "top_p": 0.9,
                "max_tokens": 5,
                "seed": 12,
            },
            id="the seed of a sample is the seed plus its number",
        ),
        pytest.param(
            {"extra_body": {"top_k": 1, "max_tokens": 7}},
            Request(prompt=Prompt.of("Hi"), temperature=1.0),
            {"messages": [user("Hi")], "temperature": 1.0, "max_tokens": 7, "top_k": 1},
            id="a request's temperature and extra fields override the section",
        ),
        pytest.param(
            {},
            Request(prompt=Prompt.of("Left:", Image("png"), "Right?", system="Be brief.")),
            {
                "messages": [
                    {"role": "system", "content": "Be brief."},
                    user(
                        [
                            {"type": "text", "text": "Left:"},
                            {"type": "image_url", "image_url": {"url": PNG}},
                            {"type": "text", "text": "Right?"},
                        ]
                    ),
                ],
                "temperature": 0.0,
                "max_tokens": 1024,
            },
            id="texts and images stay in reading order, after the system's text",
        ),
    ],
)
def test_the_body_has_the_settings_and_the_prompt(spec, request_, expected):
    with ChatServer() as server:
        list(engine(server.base_url, **spec).stream([request_]))
        assert server.bodies == [{"model": "m", **expected}]


def test_a_text_only_model_is_sent_no_image() -> None:
    request = Request(prompt=Prompt.of(Image("png"), "Which?"))
    with ChatServer("B") as server:
        list(engine(server.base_url, text_only=True).stream([request]))
    assert server.bodies[0]["messages"][0]["content"] == "Which?"


@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_every_open_user_turn_is_answered_before_the_next_is_sent(api: str) -> None:
    turns = (
        Turn("user", ("1+1?",)),
        Turn("assistant", ("2",)),
        Turn("user", ("2+2?",)),
        Turn("user", ("sure?",)),
    )
    answers = {"2+2?": "<think>two twos</think>4", "sure?": "yes"}
    with ChatServer(lambda body: answers[texts(body)[-1]]) as server:
        ((_, response),) = engine(server.base_url, format=api).stream(
            [Request(prompt=Prompt(turns))]
        )
        assert [texts(body) for body in server.bodies] == [
            ["1+1?", "2", "2+2?"],
            ["1+1?", "2", "2+2?", "4", "sure?"],
        ]
    assert response.text == "yes"
    assert response.prompt_tokens == 3 + 5  # one for each turn that was sent
    assert response.completion_tokens == 3 + 3  # three a response


def test_no_more_requests_are_under_way_than_allowed_and_connections_are_kept() -> None:
    with ChatServer(latency=0.01) as server:
        responses = ask(server.base_url, *map(str, range(40)), concurrency=4)
        assert [response.error for response in responses] == [""] * 40
        assert (server.n_requests, server.most_at_once, server.n_connections) == (40, 4, 4)


def test_closing_a_stream_cancels_its_requests() -> None:
    n_threads = threading.active_count()
    with ChatServer() as server:
        stream = engine(server.base_url, concurrency=2).stream(requests_for(*map(str, range(100))))
        next(stream)
        stream.close()  # type: ignore[attr-defined]
        assert threading.active_count() == n_threads + 1  # the server's
        assert server.n_requests < 100


@pytest.mark.parametrize(
    ("prompt", "expected_message"),
    [
        pytest.param(Prompt.of(Image("gone"), "?"), "no image gone", id="an image is missing"),
        pytest.param(Prompt.of("\ud83d"), "surrogates", id="a text is not valid Unicode"),
        pytest.param(
            Prompt((Turn("user", ("?",)), Turn("assistant", ("A",)))),
            "no unanswered user turn",
            id="nothing is left to answer",
        ),
    ],
)
def test_a_request_that_cannot_be_sent_is_its_own_error_alone(prompt, expected_message):
    with ChatServer() as server:
        requests = [Request(prompt=prompt), Request(prompt=Prompt.of("?"))]
        responses = dict(engine(server.base_url).stream(requests))
        assert server.n_requests == 1
    assert re.search(f"cannot be sent: .*{expected_message}", responses[0].error)
    assert responses[1].text == "A"
