"""Baselines: random, most frequent, blind and scripted models."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from string import ascii_uppercase

from bench_assets.core.reading.numbers import parse_quantity
from bench_assets.core.reading.yes_no import parse_yes_no
from bench_assets.core.schema.chat import ChatModel, ElicitsOptions, Request, Response, cached
from bench_assets.core.schema.errors import ModelError
from bench_assets.core.schema.rows import Question

_YES_OR_NO = ("yes", "no")
_DIGITS = tuple("0123456789")


class RandomBaseline:
    """Random guessing by the type of the answer, never by the right one.

    Guesses a letter of the options, one of the possible answers, yes or no, or a digit for a
    number. To other questions the response is empty. It depends only on the seed, the question
    and the sample number.
    """

    def __init__(self, name: str, seed: int = 0) -> None:
        self.name = name
        self.signature = f"random|seed={seed}"
        self._seed = seed

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Answer each request, in order."""
        return [
            _text_response(self._draw(_question(self.name, request), request))
            for request in requests
        ]

    def _draw(self, question: Question, request: Request) -> str:
        rng = random.Random(f"{self._seed}\n{question.question_id}\n{request.sample}")
        guesses = _letters(question) or _texts(question)
        return rng.choice(guesses) if guesses else ""


class MostFrequentBaseline:
    """The most frequent right answer of the questions: an offered letter, or one text.

    Ties go to the first letter, or to the text whose question comes first.
    """

    signature = "most_frequent"

    def __init__(self, name: str) -> None:
        self.name = name

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Answer each request, in order, after counting the keys of all."""
        letters, texts = Counter[str](), Counter[str]()
        questions = [_question(self.name, request) for request in requests]
        for question in {question.question_id: question for question in questions}.values():
            counts = letters if _letters(question) else texts
            counts.update(question.answer)
        most_frequent_text = max(texts, key=texts.__getitem__, default="")
        responses = []
        for question in questions:
            answer = max(_letters(question), key=letters.__getitem__, default="")
            if question.kind == "text":
                answer = most_frequent_text
            responses.append(_text_response(answer))
        return responses


def _question(model: str, request: Request) -> Question:
    """The question of a request; raises ``ModelError`` for one without."""
    if request.question is None:
        raise ModelError(f"{model}: a baseline answers questions; it cannot judge or write")
    return request.question


def _letters(question: Question) -> Sequence[str]:
    """Letters of the options; "" for other kinds of questions."""
    has_letters = question.kind in ("choice", "choices")
    return ascii_uppercase[: len(question.options)] if has_letters else ""


def _texts(question: Question) -> Sequence[str]:
    """Texts to guess: a possible answer, yes or no, or a digit, by the type of the key."""
    if question.kind != "text":
        return ()
    if question.options:
        return question.options
    if all(map(parse_yes_no, question.answer)):
        return _YES_OR_NO
    return _DIGITS if all(map(parse_quantity, question.answer)) else ()


def _text_response(text: str) -> Response:
    return Response(text=text, finish_reason="stop")


class BlindModel:
    """A model that gets the requests without their images."""

    def __init__(self, inner: ChatModel, name: str) -> None:
        self.inner = inner
        self.name = name
        self.signature = f"blind|{inner.signature}"
        self.elicits = inner.elicits if isinstance(inner, ElicitsOptions) else ()

    def cached(self) -> ChatModel:
        """This model over the cached responses of the other model."""
        return BlindModel(cached(self.inner), self.name)

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Answer each request by the other model, without images."""
        return self.inner.response(
            [replace(request, prompt=request.prompt.without_images()) for request in requests]
        )


class ScriptedModel:
    """A function as a model, for tests and for trials of the graph."""

    signature = "scripted"

    def __init__(self, name: str, answer: Callable[[Request], str]) -> None:
        self.name = name
        self._answer = answer

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Answer each request, in order."""
        return [_text_response(self._answer(request)) for request in requests]
