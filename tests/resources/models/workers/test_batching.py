import threading
from collections.abc import Callable, Generator, Sequence

import jinja2
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bench_assets.core.schema.chat import Image, Prompt, Request, Response, Turn
from bench_assets.core.schema.errors import ModelError
from bench_resources.models.workers.local_model import Draw, Message
from tests.resources.models.transformers.echoing import Echo, ask, batches
from tests.resources.models.transformers.tiny_engine import ALBUM, BLUE, RED

_PATIENCE = 20  # s; only a test that fails waits so long


def test_tensors_of_the_next_batch_are_made_while_the_model_answers() -> None:
    prepared = {text: threading.Event() for text in "abc"}
    next_texts = {"a": "b", "b": "c"}

    def note_preparation(texts: list[str]) -> None:
        (text,) = texts
        prepared[text].set()

    def wait_for_next_preparation(texts: list[str]) -> None:
        (text,) = texts
        if text in next_texts:
            assert prepared[next_texts[text]].wait(_PATIENCE)

    echo = Echo()
    echo.at_prepare = note_preparation
    echo.at_answer = wait_for_next_preparation
    responses = ask(echo, *map(Prompt.of, "abc"), batch_size=1)
    assert [response.text for response in responses] == ["A", "B", "C"]
    assert echo.batches == [["a"], ["b"], ["c"]]


@pytest.mark.parametrize(
    ("batch_tokens", "expected"),
    [
        # A blue image counts 64 x 64 = 4096 tokens, a red one 40 x 30 = 1200.
        pytest.param(
            20_480, [["b1", "b2", "r1", "r2", "r3"]], id="five times the tokens of the first"
        ),
        pytest.param(8_192, [["b1", "b2"], ["r1", "r2", "r3"]], id="two blue ones"),
        pytest.param(
            2_400,
            [["b1"], ["b2"], ["r1", "r2"], ["r3"]],
            id="two red ones; a blue one is sent alone",
        ),
        pytest.param(1, [["b1"], ["b2"], ["r1"], ["r2"], ["r3"]], id="no two fit"),
    ],
)
def test_batches_are_cut_by_image_tokens_the_most_first(batch_tokens, expected):
    echo = Echo()
    echo.count_tokens = lambda image: image.width * image.height
    prompts = [
        Prompt.of(RED if text[0] == "r" else BLUE, text) for text in ("r1", "b1", "r2", "b2", "r3")
    ]
    ask(echo, *prompts, batch_size=8, batch_tokens=batch_tokens)
    assert [sorted(texts) for texts in echo.batches] == expected


IMAGES: dict[str, tuple[Image, ...]] = {
    "red": (RED,),
    "two images": (RED, BLUE),
    "missing image": (Image("0" * 64),),
}
FAILING = ("missing image", "error", "closed")


def prompt_of_kind(n: int, kind: str) -> Prompt:
    """A prompt with the text "<n> <kind>"; a closed one ends with an answer."""
    question = Turn("user", (*IMAGES.get(kind, ()), f"{n} {kind}"))
    return Prompt((question, Turn("assistant", ("yes",))) if kind == "closed" else (question,))


@given(
    kinds=st.lists(
        st.sampled_from(["text", "red", "two images", "missing image", "error", "closed"]),
        max_size=30,
    ),
    batch_size=st.integers(1, 7),
    batch_tokens=st.integers(1, 10_000),
)
def test_every_request_has_one_response_in_any_mixture(kinds, batch_size, batch_tokens):
    def fail_at_errors(texts: list[str]) -> None:
        if any(text.endswith("error") for text in texts):
            raise RuntimeError("odd")

    echo = Echo()
    echo.count_tokens = lambda image: image.width * image.height
    echo.at_prepare = fail_at_errors
    prompts = [prompt_of_kind(n, kind) for n, kind in enumerate(kinds)]
    responses = ask(echo, *prompts, batch_size=batch_size, batch_tokens=batch_tokens)
    assert len(responses) == len(kinds)
    failed = [n for n, response in enumerate(responses) if response.error]
    assert failed == [n for n, kind in enumerate(kinds) if kind in FAILING]
    texts = {n: response.text for n, response in enumerate(responses) if response.text}
    assert texts == {n: f"{n} {kind}".upper() for n, kind in enumerate(kinds) if n not in failed}


@pytest.mark.parametrize(
    ("batch_size", "at_most"),
    [
        # Before the size of an image is known, a window has 2**28 / (2 * 2**24) = 8 images, or
        # four batches if these are fewer; one more window is read ahead.
        pytest.param(4, 16, id="two windows of eight"),
        pytest.param(1, 8, id="two windows of four batches"),
    ],
)
def test_two_windows_of_images_are_read_ahead_at_most(batch_size: int, at_most: int) -> None:
    read_digests: list[str] = []

    def read_and_note(digest: str) -> bytes:
        read_digests.append(digest)
        return ALBUM.read(digest)

    requests = [Request(prompt=Prompt.of(RED, "a")) for _ in range(200)]
    stream = batches(Echo(), read_and_note, batch_size=batch_size).stream(requests)
    assert isinstance(stream, Generator)
    next(stream)
    assert 1 <= len(read_digests) <= at_most
    stream.close()


def test_closing_a_stream_ends_its_threads_and_begins_no_batch() -> None:
    threads = set(threading.enumerate())
    echo = Echo()
    requests = [Request(prompt=Prompt.of(RED, f"{n}")) for n in range(100)]
    stream = batches(echo, batch_size=2).stream(requests)
    assert isinstance(stream, Generator)
    next(stream)
    stream.close()
    assert set(threading.enumerate()) <= threads
    assert len(echo.batches) == 1


class ThinkingModel(Echo):
    """Answers "yes" after a thought, and keeps the texts of each conversation."""

    def __init__(self) -> None:
        super().__init__()
        self.received: list[list[str]] = []

    def prepare(self, conversations: Sequence[Sequence[Message]]) -> list[str]:
        for messages in conversations:
            self.received.append([message["content"][0]["text"] for message in messages])
        return super().prepare(conversations)

    def answer(self, prepared: list[str], draw: Draw) -> list[Response]:
        return [Response(text="<think>hm</think>yes", completion_tokens=8) for _ in prepared]


def test_a_later_turn_follows_the_answer_without_its_thought() -> None:
    model = ThinkingModel()
    (response,) = ask(model, Prompt((Turn("user", ("one",)), Turn("user", ("two",)))))
    assert response.completion_tokens == 8 + 8
    assert model.received == [["one"], ["one", "yes", "two"]]


@pytest.mark.parametrize("hook", ["at_prepare", "at_answer"])
def test_an_exception_is_the_error_of_its_own_request_alone(hook: str) -> None:
    def fail(texts: list[str]) -> None:
        if "odd" in texts:
            raise jinja2.TemplateError("no")

    echo = Echo()
    setattr(echo, hook, fail)
    texts = ["a", "b", "odd", "c", "d", "e", "f"]
    responses = ask(echo, *map(Prompt.of, texts), batch_size=4)
    assert [response.text for response in responses] == ["A", "B", "", "C", "D", "E", "F"]
    assert [response.error for response in responses if response.error] == ["no"]


@pytest.mark.parametrize("hook", ["at_prepare", "at_answer"])
def test_a_model_error_ends_all_requests(hook: str) -> None:
    def fail(texts: list[str]) -> None:
        raise ModelError("the device is gone")

    echo = Echo()
    setattr(echo, hook, fail)
    with pytest.raises(ModelError, match="the device is gone"):
        ask(echo, *map(Prompt.of, "abc"), batch_size=1)


OUT_OF_MEMORY = "CUDA out of memory. Tried to allocate 2.00 GiB."


def model_with_memory(has_memory_for: Callable[[list[str]], bool]) -> Echo:
    """A model that raises an out-of-memory error for batches that it has no memory for."""

    def check_memory(texts: list[str]) -> None:
        if not has_memory_for(texts):
            raise torch.OutOfMemoryError(OUT_OF_MEMORY)

    echo = Echo()
    echo.at_answer = check_memory
    return echo


def test_out_of_memory_halves_the_batch() -> None:
    echo = model_with_memory(lambda texts: len(texts) <= 2)
    texts = [f"Question {n}?" for n in range(10, 26)]
    responses = ask(echo, *map(Prompt.of, texts), batch_size=8)
    assert [response.text for response in responses] == [text.upper() for text in texts]
    assert list(map(len, echo.batches)) == [8, 4, 2, 2, 2, 2, 2, 2, 2, 2]


def test_the_batch_grows_again_when_shorter_requests_fit() -> None:
    """Four of 10 letters are too many for 20: two at once, until eight batches fit.

    Another batch of two had been formed when it grew, and eight requests been read.
    """
    echo = model_with_memory(lambda texts: sum(map(len, texts)) <= 20)
    texts = ["a" * 10] * 4 + ["a"] * 28
    responses = ask(echo, *map(Prompt.of, texts), batch_size=4)
    assert [response.text for response in responses] == [text.upper() for text in texts]
    assert list(map(len, echo.batches)) == [4, *[2] * 9, 4, 2, 4, 4]


def test_a_request_too_large_for_the_memory_is_an_error() -> None:
    echo = model_with_memory(lambda _: False)
    assert ask(echo, Prompt.of("a"), batch_size=8) == [Response(error=OUT_OF_MEMORY)]
    assert echo.batches == [["a"]]
