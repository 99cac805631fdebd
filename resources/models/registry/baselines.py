"""Baselines: random, most frequent, scripted and blind models.

What a model answers when it sees nothing.

A model that is a function.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from string import ascii_uppercase
from typing import overload

from bench_assets.core.judging.request_streaming import answered
from bench_assets.core.schema.chat import ChatModel, Request, Response
from bench_assets.core.schema.errors import ModelError
from bench_assets.core.schema.rows import Question


class RandomBaseline:
    """Picks one of the possible answers at random; where a question lists none, it says nothing.

    A draw depends on the seed, the question and the number of the draw, and on nothing else that
    is asked.
    """

    def __init__(self, name: str, seed: int = 0) -> None:
        self.name = name
        self._seed = seed

    @property
    def signature(self) -> str:
        """What the responses depend on: the seed."""
        return f"random|seed={self._seed}"

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Answer each request, in order.

        Raises:
            ModelError: If a request does not come from a question, such as a judge's.
        """
        return [response for _, response in self.answers(requests)]

    def answers(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Response]]:
        """Answer each request, in order, one after the other.

        Raises:
            ModelError: As ``response``.
        """
        for one in requests:
            yield one, _saying(self._draw(_question(self.name, one), one.sample))

    def _draw(self, question: Question, sample: int) -> str:
        rng = random.Random(f"{self._seed}\n{question.question_id}\n{sample}")
        possible = _possible(question)
        return rng.choice(possible) if possible else ""


class MostFrequentBaseline:
    """Picks the answer that is right most often in what is asked, of those the question lists.

    Ties go to the answer that the question lists first. Where a question lists none, it says
    nothing.
    """

    signature = "most_frequent"

    def __init__(self, name: str) -> None:
        self.name = name

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Answer each request, in order; a question counts once, however often it is asked.

        Raises:
            ModelError: If a request does not come from a question, such as a judge's.
        """
        return [response for _, response in self.answers(requests)]

    def answers(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Response]]:
        """Answer each request, in order, when all have been gone through once.

        Raises:
            ModelError: As ``response``.
        """
        seen = set[str]()
        counts = Counter[str]()
        for question in (_question(self.name, request) for request in requests):
            if question.question_id not in seen:
                seen.add(question.question_id)
                counts.update(question.answer)
        for one in requests:
            possible = _possible(_question(self.name, one))
            yield one, _saying(max(possible, key=counts.__getitem__, default=""))


def _question(model: str, request: Request) -> Question:
    if request.question is None:
        raise ModelError(f"{model}: a baseline answers questions; it cannot judge or write")
    return request.question


def _possible(question: Question) -> Sequence[str]:
    """The answers to pick from: one letter an option, or for texts the possible answers."""
    if question.kind in ("choice", "choices"):
        return ascii_uppercase[: len(question.options)]
    return question.options if question.kind == "text" else ()


def _saying(text: str) -> Response:
    return Response(text=text, finish_reason="stop")


class BlindModel:
    """Another model, asked without the images."""

    def __init__(self, inner: ChatModel, name: str) -> None:
        self.inner = inner
        self.name = name

    @property
    def signature(self) -> str:
        """Who is asked how, and that it is asked without the images."""
        return f"blind|{self.inner.signature}"

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Ask the other model; a request that had images and one that never had are equal.

        Raises:
            ModelError: If the other model cannot be asked at all.
        """
        return self.inner.response([_without_images(request) for request in requests])

    def answers(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Response]]:
        """Answer each request, in order, as the other model does: some or all at once.

        Raises:
            ModelError: As ``response``.
        """
        responses = answered(self.inner, _Blind(requests))
        return (
            (request, response) for request, (_, response) in zip(requests, responses, strict=True)
        )


class _Blind(Sequence[Request]):
    """Requests without the images, made when they are asked."""

    def __init__(self, requests: Sequence[Request]) -> None:
        self._requests = requests

    def __len__(self) -> int:
        return len(self._requests)

    def __iter__(self) -> Iterator[Request]:
        return map(_without_images, self._requests)

    @overload
    def __getitem__(self, place: int) -> Request: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Request]: ...
    def __getitem__(self, place: int | slice) -> Request | Sequence[Request]:
        if isinstance(place, slice):
            return [_without_images(request) for request in self._requests[place]]
        return _without_images(self._requests[place])


def _without_images(request: Request) -> Request:
    return replace(request, prompt=request.prompt.without_images())


class ScriptedModel:
    """Says what a function says; for tests, and for trying the graph."""

    signature = "scripted"

    def __init__(self, name: str, answer: Callable[[Request], str]) -> None:
        self.name = name
        self._answer = answer

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Answer each request, in order."""
        return [response for _, response in self.answers(requests)]

    def answers(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Response]]:
        """Answer each request, in order, one after the other."""
        return ((r, Response(text=self._answer(r), finish_reason="stop")) for r in requests)
