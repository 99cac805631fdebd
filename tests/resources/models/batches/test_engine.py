"""Requests handed over in batches: asked once, collected once, whatever happens meanwhile."""

from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from bench_assets.core.schema.chat import Image, Prompt, Request, Turn
from bench_assets.core.schema.errors import ModelError
from bench_resources.response_cache.rows import TokenCounts
from tests.fakes.chat_server import texts
from tests.fakes.server_engines import requests_for
from tests.resources.models.api.raw_server import http, saying
from tests.resources.models.batches.handing_over import (
    ANSWERS,
    TEXTS,
    answered,
    engine,
    out,
    response_texts,
)
from tests.resources.models.batches.stand_in import BatchServer


def test_requests_are_one_batch_and_responses_find_theirs(
    server: BatchServer, tmp_path: Path, format_: str
) -> None:
    responses = answered(engine(server, tmp_path, format_), *requests_for(*TEXTS))
    assert response_texts(responses) == ANSWERS
    assert len(server.batches) == 1
    assert {(response.prompt_tokens, response.completion_tokens) for response in responses} == {
        (10, 3)
    }
    assert {(response.finish_reason, response.seconds) for response in responses} == {
        ("stop", None)
    }
    assert out(tmp_path) == []


def test_what_it_sends_is_what_a_single_request_says(
    server: BatchServer, tmp_path: Path, format_: str
) -> None:
    single = Request(prompt=Prompt.of(Image("png"), "?"), temperature=0.5)
    answered(engine(server, tmp_path, format_), single)
    (body,) = [one["body"] for batch in server.batches.values() for one in batch.requests]
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("m", 0.5, 50)
    (turn,) = body["messages"]
    kinds = {"openai": ["image_url", "text"], "anthropic": ["image", "text"]}
    assert [part["type"] for part in turn["content"]] == kinds[format_]


def test_the_limits_of_a_batch_make_several(
    server: BatchServer, tmp_path: Path, format_: str
) -> None:
    one = engine(server, tmp_path, format_)
    one._api.most = 2
    assert response_texts(answered(one, *requests_for(*TEXTS))) == ANSWERS
    assert sorted(len(batch.requests) for batch in server.batches.values()) == [1, 2, 2]


def test_what_is_too_large_for_the_server_is_handed_over_in_halves(
    server: BatchServer, tmp_path: Path, format_: str
) -> None:
    server.most_bytes = 900
    assert (
        response_texts(answered(engine(server, tmp_path, format_), *requests_for(*TEXTS)))
        == ANSWERS
    )
    assert len(server.batches) > 1
    assert server.n_requests == 5


def test_so_is_what_is_beyond_the_tokens_that_may_be_enqueued(
    server: BatchServer, tmp_path: Path
) -> None:
    server.most = 2
    assert (
        response_texts(answered(engine(server, tmp_path, "openai"), *requests_for(*TEXTS)))
        == ANSWERS
    )
    assert server.n_requests == 5


def test_what_fails_in_a_batch_is_the_error_of_its_request(tmp_path: Path, format_: str) -> None:
    def answer(body: dict[str, Any]) -> str | int | None:
        return 400 if "b" in str(body["messages"]) else "fine"

    with BatchServer(answer) as server:
        first, second = answered(engine(server, tmp_path, format_), *requests_for("a", "b"))
    assert first.text == "fine"
    assert second.text == ""
    assert second.error.startswith("in a batch: ")
    assert "as asked" in second.error


@pytest.mark.parametrize("end", ["expired", "cancelled"])
def test_a_batch_that_ends_early_leaves_what_was_answered_and_errors(
    tmp_path: Path, format_: str, end: str
) -> None:
    with BatchServer(lambda body: None if "b" in str(body["messages"]) else "fine") as server:
        server.end = end
        first, second = answered(engine(server, tmp_path, format_), *requests_for("a", "b"))
        assert first.text == "fine"
        assert (second.text, end.replace("ll", "l") in second.error.replace("ll", "l")) == (
            "",
            True,
        )
        # It is asked again by the next run, in a batch of its own.
        answered(engine(server, tmp_path, format_), *requests_for("b"))
        assert server.n_requests == 3


def test_a_batch_that_is_refused_whole_is_the_error_of_each(
    server: BatchServer, tmp_path: Path
) -> None:
    server.end = "failed"
    (response,) = answered(engine(server, tmp_path, "openai"), *requests_for("a"))
    assert response.error.endswith("without a response: Enqueued token limit reached")


def test_a_server_that_is_overloaded_is_tried_again(
    server: BatchServer, tmp_path: Path, format_: str
) -> None:
    server.fails = 2
    assert response_texts(answered(engine(server, tmp_path, format_), *requests_for("a"))) == [
        "A to a"
    ]


def test_a_hosted_server_is_reached_through_the_proxy_of_the_environment(
    server: BatchServer, tmp_path: Path, format_: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with saying(http(b"", status="502 No Way Through")) as proxy:
        for name in ("HTTPS_PROXY", "https_proxy"):
            monkeypatch.setenv(name, proxy.removesuffix("/v1"))
        hosted = "https://models.example.invalid/v1"
        batches = engine(server, tmp_path, format_, base_url=hosted, patience=0)
        with pytest.raises(ModelError, match="502, message='No Way Through'"):
            answered(batches, *requests_for("a"))


def test_two_results_of_one_request_are_nobody_s(
    server: BatchServer, tmp_path: Path, format_: str
) -> None:
    server.doubled = True
    with pytest.raises(ModelError, match="two results of one request"):
        answered(engine(server, tmp_path, format_), *requests_for(*TEXTS))


def test_a_download_that_breaks_goes_on_after_the_results_it_brought(
    server: BatchServer, tmp_path: Path, format_: str
) -> None:
    server.breaks = [0.0, 0.5, 0.3, 0.9]  # within a line
    spending = engine(server, tmp_path, format_)
    responses = list(spending.stream(requests_for(*TEXTS)))
    assert sorted(position for position, _ in responses) == [0, 1, 2, 3, 4]
    assert [one.text for _, one in sorted(responses, key=lambda one: one[0])] == ANSWERS
    assert (server.n_requests, server.n_collected, out(tmp_path)) == (5, 5, [])


def test_a_refused_download_says_no_part_of_the_key(
    server: BatchServer, tmp_path: Path, format_: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.key = "sk-Qm3x9ZpLw7Rk2Vt5"
    monkeypatch.setenv("BATCH_KEY", server.key)
    server.refusal = f"{'no ' * 97}{server.key}"  # of which 300 characters are shown
    with pytest.raises(ModelError, match="HTTP 400: no no") as refused:
        answered(engine(server, tmp_path, format_), *requests_for("a"))
    assert "sk-" not in str(refused.value)


class Leaking(BatchServer):
    """Says its key in each error of a result, and in each response."""

    async def _sent(self, request: web.Request, body: bytes) -> web.StreamResponse:
        error = f"{'no ' * 97}{self.key}".encode()  # of which 300 characters are shown
        leaking = body.replace(b"as asked", error).replace(b"A to", self.key.encode())
        return await super()._sent(request, leaking)


def test_results_say_no_part_of_the_key_and_that_it_was_there(
    tmp_path: Path, format_: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(body: dict[str, Any]) -> str | int | None:
        return 400 if texts(body)[-1] == "a" else "A to b"

    with Leaking(answer) as server:
        server.key = "sk-Qm3x9ZpLw7Rk2Vt5"
        monkeypatch.setenv("BATCH_KEY", server.key)
        failed, redacted = answered(engine(server, tmp_path, format_), *requests_for("a", "b"))
    assert "no no" in failed.error
    assert "sk-" not in failed.error
    assert (redacted.text, redacted.note) == ("*** b", "redacted: BATCH_KEY")


def test_a_conversation_is_a_batch_for_each_turn(
    server: BatchServer, tmp_path: Path, format_: str
) -> None:
    prompt = Prompt((Turn("user", ("first",)), Turn("user", ("second",))))
    both = [Request(prompt=prompt), *requests_for("a")]
    responses = answered(engine(server, tmp_path, format_), *both)
    assert response_texts(responses) == ["A to second", "A to a"]
    assert (responses[0].prompt_tokens, responses[0].completion_tokens) == (20, 6)
    last = list(server.batches.values())[-1].requests
    assert [turn["role"] for turn in last[0]["body"]["messages"]] == ["user", "assistant", "user"]
    assert out(tmp_path) == []


def test_a_image_that_is_not_there_is_the_error_of_its_request(
    server: BatchServer, tmp_path: Path, format_: str
) -> None:
    requests = [Request(prompt=Prompt.of(Image("none"), "?")), *requests_for("a")]
    first, second = answered(engine(server, tmp_path, format_), *requests)
    assert first.error == "cannot be sent: no image none"
    assert second.text == "A to a"


def test_what_may_cost_more_than_is_left_is_sent_when_the_rest_was_paid(
    server: BatchServer, tmp_path: Path, format_: str
) -> None:
    # One may take 100 + 50 tokens and takes 13: two fit at first, then as many as are left.
    one = engine(server, tmp_path, format_, budget_tokens=310)
    assert response_texts(answered(one, *requests_for(*TEXTS))) == ANSWERS
    assert [len(batch.requests) for batch in server.batches.values()] == [2, 1, 1, 1]


def test_beyond_the_budget_nothing_is_sent(
    server: BatchServer, tmp_path: Path, format_: str
) -> None:
    one = engine(
        server, tmp_path, format_, budget_tokens=100, spent=TokenCounts(prompt=90, completion=5)
    )
    (response,) = answered(one, *requests_for("a"))
    assert response.error == "not sent: it may cost more than is left of the budget"
    assert server.n_requests == 0
