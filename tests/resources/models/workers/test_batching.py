"""Batches where memory is short are halved; a request too large for it is an error."""

from collections.abc import Callable

import torch

from bench_assets.core.schema.chat import Prompt, Response
from tests.resources.models.transformers.echoing import Echo, ask

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
