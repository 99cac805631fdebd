"""Asking in batches, of a double that says what it hears: no weights, no sleeping."""

import threading
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_assets.core.schema.chat import Image, Prompt, Request, Response, Turn
from bench_assets.core.schema.errors import ModelError
from bench_resources.models.workers.local_model import Draw, Message
from tests.resources.models.transformers.echoing import Echo, ask, batches
from tests.resources.models.transformers.tiny_engine import ALBUM, BLUE, RED

_PATIENCE = 20  # s; only a test that fails waits so long


def test_tensors_of_the_next_batch_are_made_while_the_model_answers() -> None:
    made = {text: threading.Event() for text in "abc"}

    def wait_for_the_next(texts: list[str]) -> None:
        after = {"a": "b", "b": "c"}.get(texts[0])
        assert after is None or made[after].wait(_PATIENCE)

    echo = Echo()
    echo.at_prepare = lambda texts: made[texts[0]].set()
    echo.at_answer = wait_for_the_next
    responses = ask(echo, *map(Prompt.of, "abc"), batch_size=1)
    assert [response.text for response in responses] == ["A", "B", "C"]
    assert echo.batches == [["a"], ["b"], ["c"]]


@pytest.mark.parametrize(
    ("batch_tokens", "expected"),
    [
        # Blue is 64 x 64 = 4096, red 40 x 30 = 1200.
        pytest.param(20_480, [["b1", "b2", "r1", "r2", "r3"]], id="room for all as for the first"),
        pytest.param(8_192, [["b1", "b2"], ["r1", "r2", "r3"]], id="two of the heavy ones"),
        pytest.param(2_400, [["b1"], ["b2"], ["r1", "r2"], ["r3"]], id="too heavy for any, alone"),
        pytest.param(1, [["b1"], ["b2"], ["r1"], ["r2"], ["r3"]], id="no two have room"),
    ],
)
def test_batches_are_cut_by_weight_the_heaviest_first(
    batch_tokens: int, expected: list[list[str]]
) -> None:
    echo = Echo()
    echo.weigh = lambda image: image.width * image.height
    prompts = [
        Prompt.of(RED if text[0] == "r" else BLUE, text) for text in ("r1", "b1", "r2", "b2", "r3")
    ]
    ask(echo, *prompts, batch_size=8, batch_tokens=batch_tokens)
    assert [sorted(texts) for texts in echo.batches] == expected


@given(
    kinds=st.lists(st.sampled_from(["text", "red", "two", "lost", "odd", "closed"]), max_size=30),
    size=st.integers(1, 7),
    tokens=st.integers(1, 10_000),
)
def test_every_request_is_answered_once_in_any_mixture(
    kinds: list[str], size: int, tokens: int
) -> None:
    def fail(texts: list[str]) -> None:
        if any(text.endswith("odd") for text in texts):
            raise RuntimeError("odd")

    def prompt(n: int, kind: str) -> Prompt:
        turn = Turn("user", (f"{n} {kind}",))
        images: dict[str, tuple[Image, ...]] = {
            "red": (RED,),
            "two": (RED, BLUE),
            "lost": (Image("0" * 64),),
        }
        seen = replace(turn, parts=(*images.get(kind, ()), *turn.parts))
        return Prompt((seen, Turn("assistant", ("yes",))) if kind == "closed" else (seen,))

    echo = Echo()
    echo.weigh = lambda image: image.width * image.height
    echo.at_prepare = fail
    prompts = [prompt(n, kind) for n, kind in enumerate(kinds)]
    responses = ask(echo, *prompts, batch_size=size, batch_tokens=tokens)
    for n, (kind, response) in enumerate(zip(kinds, responses, strict=True)):
        if kind in ("lost", "odd", "closed"):
            assert response.error
        else:
            assert (response.text, response.error) == (f"{n} {kind}".upper(), "")


@pytest.mark.parametrize(
    ("batch_size", "at_most"),
    [
        # Before one was seen, 2**28 / (2 * 2**24) = 8 make a window, and as many are read ahead;
        # without that bound a window is four batches.
        pytest.param(4, 16, id="two windows of eight"),
        pytest.param(1, 8, id="two windows of four batches"),
    ],
)
def test_no_more_images_are_read_ahead_than_memory_is_meant_for(
    batch_size: int, at_most: int
) -> None:
    read: list[str] = []

    def reading(digest: str) -> bytes:
        read.append(digest)
        return ALBUM.read(digest)

    requests = [Request(prompt=Prompt.of(RED, "a")) for _ in range(200)]
    stream = batches(Echo(), reading, batch_size=batch_size).stream(requests)
    assert isinstance(stream, Generator)
    next(stream)
    assert 1 <= len(read) <= at_most
    stream.close()


def test_closing_early_leaves_no_thread_and_begins_nothing_more() -> None:
    before = set(threading.enumerate())
    echo = Echo()
    requests = [Request(prompt=Prompt.of(RED, f"{n}")) for n in range(100)]
    stream = batches(echo, batch_size=2).stream(requests)
    assert isinstance(stream, Generator)
    next(stream)
    stream.close()
    assert set(threading.enumerate()) <= before
    assert len(echo.batches) == 1


def test_a_later_turn_follows_the_answer_without_its_thought() -> None:
    received: list[Any] = []

    class Thinking(Echo):
        def prepare(self, conversations: Sequence[Sequence[Message]]) -> list[str]:
            received.append([message["content"][0]["text"] for message in conversations[0]])
            return super().prepare(conversations)

        def answer(self, prepared: list[str], draw: Draw) -> list[Response]:
            return [Response(text="<think>hm</think>yes", completion_tokens=8) for _ in prepared]

    (response,) = ask(Thinking(), Prompt((Turn("user", ("one",)), Turn("user", ("two",)))))
    assert response.completion_tokens == 8 + 8
    assert received == [["one"], ["one", "yes", "two"]]


# What cannot be read, weighed or answered in a batch costs only itself.


@pytest.mark.parametrize("where", ["at_prepare", "at_answer"])
def test_any_exception_costs_only_its_own_request(where: str) -> None:
    raised = jinja2.TemplateError("no")

    def fail(texts: list[str]) -> None:
        if "odd" in texts:
            raise raised

    echo = Echo()
    setattr(echo, where, fail)
    texts = ["a", "b", "odd", "c", "d", "e", "f"]
    responses = ask(echo, *map(Prompt.of, texts), batch_size=4)
    assert [response.text for response in responses] == ["A", "B", "", "C", "D", "E", "F"]
    assert [response.error for response in responses if response.error] == [str(raised)]


@pytest.mark.parametrize("where", ["at_prepare", "at_answer"])
def test_a_model_that_cannot_respond_stops_all(where: str) -> None:
    def fail(texts: list[str]) -> None:
        raise ModelError("the device is gone")

    echo = Echo()
    setattr(echo, where, fail)
    with pytest.raises(ModelError, match="the device is gone"):
        ask(echo, *map(Prompt.of, "abc"), batch_size=1)
