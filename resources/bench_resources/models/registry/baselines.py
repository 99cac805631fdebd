"""Baselines: random, most frequent, blind and scripted models."""

import random
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from string import ascii_uppercase

from bench_assets.core.schema.chat import (
    ChatModel,
    ElicitsOptions,
    Prompt,
    Request,
    Response,
    cached,
)
from bench_assets.core.schema.errors import ModelError
from bench_assets.core.schema.rows import Question

_WORD = r"(?!or )[\w'-]+"
_ALTERNATIVES = re.compile(  # takes every list of words, also without "or": so its time is linear
    rf"(?<![\w'-])((?:{_WORD}, )*{_WORD})(?:,? or (?:(?:in|on|at|to|the|an?|my) )*([\w'-]+))?"
)
_YES_OR_NO = "yes or no"  # as the instruction of the answer type asks for
_AUXILIARIES = {"am", "is", "are", "was", "were", "do", "does", "did", "has", "have", "had"} | {
    *("can", "could", "will", "would", "shall", "should", "may"),
}


class RandomBaseline:
    """Random guessing from the prompt's options, never from the answer key.

    Guesses a letter of the shown options; for questions with texts, a shown option, yes or no if
    the prompt asks for them, an alternative in the question ("left or right?"), or yes or no.
    Otherwise the response is empty. A sample depends on the seed, the question and the sample
    number.
    """

    def __init__(self, name: str, seed: int = 0) -> None:
        self.name = name
        self._seed = seed

    @property
    def signature(self) -> str:
        """The seed."""
        return f"random|seed={self._seed}"

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Answer each request, in order."""
        return [_text_response(self._draw(_question(self.name, one), one)) for one in requests]

    def _draw(self, question: Question, request: Request) -> str:
        rng = random.Random(f"{self._seed}\n{question.question_id}\n{request.sample}")
        offered = _letters(question) or _shown_texts(question, request.prompt)
        return rng.choice(offered) if offered else ""


class MostFrequentBaseline:
    """The most frequent right answer of the questions: an offered letter, or one text.

    Ties go to the first letter, or to the text whose question comes first.
    """

    signature = "most_frequent"

    def __init__(self, name: str) -> None:
        self.name = name

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Answer each request, in order, after counting the keys of all."""
        seen = set[str]()
        letters, texts = Counter[str](), Counter[str]()
        for question in (_question(self.name, request) for request in requests):
            if question.question_id not in seen:
                seen.add(question.question_id)
                (letters if _letters(question) else texts).update(question.answer)
        text = max(texts, key=texts.__getitem__, default="")
        responses = []
        for request in requests:
            question = _question(self.name, request)
            letter = max(_letters(question), key=letters.__getitem__, default="")
            answer = letter or (text if question.kind == "text" else "")
            responses.append(_text_response(answer))
        return responses


def _question(model: str, request: Request) -> Question:
    if request.question is None:
        raise ModelError(f"{model}: a baseline answers questions; it cannot judge or write")
    return request.question


def _letters(question: Question) -> Sequence[str]:
    choice = question.kind in ("choice", "choices")
    return ascii_uppercase[: len(question.options)] if choice else ""


def _shown_texts(question: Question, prompt: Prompt) -> Sequence[str]:
    """Texts to guess: options, if the prompt shows all; alternatives in the question; yes, no."""
    if question.kind != "text":
        return ()
    parts = (part for turn in prompt.turns for part in turn.parts if isinstance(part, str))
    prompt_text = "\n".join(parts).casefold()
    if question.options and all(option.casefold() in prompt_text for option in question.options):
        return question.options
    if _YES_OR_NO in prompt_text:
        return ("yes", "no")
    if found := [one for one in _ALTERNATIVES.finditer(question.text) if one[2]]:
        return [*found[-1][1].split(", "), found[-1][2]]
    opening = question.text.casefold().split()[:1]
    return ("yes", "no") if _AUXILIARIES.issuperset(opening) and opening else ()


def _text_response(text: str) -> Response:
    return Response(text=text, finish_reason="stop")


class BlindModel:
    """A model that gets the requests without their images."""

    def __init__(self, inner: ChatModel, name: str) -> None:
        self.inner = inner
        self.name = name

    @property
    def signature(self) -> str:
        """The other model's signature, marked as blind."""
        return f"blind|{self.inner.signature}"

    @property
    def elicits(self) -> Collection[str]:
        """Elicitation methods of the other model."""
        return self.inner.elicits if isinstance(self.inner, ElicitsOptions) else ()

    def cached(self) -> ChatModel:
        """This model over the cached responses of the other model."""
        return BlindModel(cached(self.inner), self.name)

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Answer each request by the other model, without images."""
        return self.inner.response([_without_images(request) for request in requests])


def _without_images(request: Request) -> Request:
    return replace(request, prompt=request.prompt.without_images())


class ScriptedModel:
    """A function as a model, for tests and for trials of the graph."""

    signature = "scripted"

    def __init__(self, name: str, answer: Callable[[Request], str]) -> None:
        self.name = name
        self._answer = answer

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Answer each request, in order."""
        return [_text_response(self._answer(request)) for request in requests]
