"""Asks a model of this machine in batches: in which order, what is read ahead, what if one fails.

Whatever generates the text, transformers or vLLM, is asked through ``Answers``.
"""

import hashlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol

from bench_assets.core.chat import Prompt, Reply, Request, Turn, without_reasoning
from bench_assets.core.errors import ImageError
from resources import device_memory
from resources.checkpoints import first_line
from resources.engine import ReadImage
from resources.model_specs import LocalSpec
from resources.transformers_prompts import DecodedImages, Message, decode, message, rounds

_READERS = 4
_BATCHES_AHEAD = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """How the replies of a batch are drawn."""

    max_tokens: int
    temperature: float  # 0: greedy
    top_p: float
    seeds: Sequence[str]  # one for each conversation; any text

    @property
    def seed_numbers(self) -> list[int]:
        """The seeds as numbers of 60 bits."""
        return [int(hashlib.sha256(seed.encode()).hexdigest()[:15], 16) for seed in self.seeds]


class Answers(Protocol):
    """A loaded model."""

    def answer(self, conversations: Sequence[Sequence[Message]], draw: Draw) -> list[Reply]:
        """Generate the next turn of each conversation.

        Raises:
            ValueError: If a conversation cannot be answered; the others are asked again.
            RuntimeError: If memory runs out, among others.
            ModelError: If nothing can be asked any more.
        """
        ...


class Batches:
    """Asks one model; it is loaded at the first request.

    Requests with the same number of turns and pictures are asked together, longest first, so that
    little is padded and memory runs out at the start, if at all. Then the batch is halved, and
    stays so. A request that fails alone is answered with ``error`` and costs the others nothing.
    """

    def __init__(self, spec: LocalSpec, read_image: ReadImage, load: Callable[[], Answers]) -> None:
        self._spec = spec
        self._read_image = read_image
        self._load = load
        self._model: Answers | None = None
        self._batch_size = spec.batch_size

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """Answer requests batch by batch; yields position and reply.

        Raises:
            ModelError: If the model does not load, or cannot be asked any more.
        """
        asked = [as_asked(request, self._spec) for request in requests]
        pending = deque(in_order(asked))
        ahead: dict[int, Future[DecodedImages]] = {}
        with ThreadPoolExecutor(_READERS) as readers:
            while pending:
                for i in islice(pending, _BATCHES_AHEAD * self._batch_size):
                    if i not in ahead:
                        ahead[i] = readers.submit(self._pictures, asked[i].prompt)
                batch = {i: asked[i] for i in _take(pending, asked, self._batch_size)}
                yield from self._answer(batch, {i: ahead.pop(i) for i in batch})

    def close(self) -> None:
        """Give back the memory; a later request loads the model again."""
        if self._model:
            self._model = None
            device_memory.free()

    def _pictures(self, prompt: Prompt) -> DecodedImages:
        limit = self._spec.max_image_pixels
        return {i.sha256: decode(i, self._read_image(i.sha256), limit) for i in prompt.images}

    def _answer(
        self, batch: dict[int, Request], reading: dict[int, Future[DecodedImages]]
    ) -> Iterator[tuple[int, Reply]]:
        pictures: DecodedImages = {}
        seen: dict[int, Request] = {}
        for i, request in batch.items():
            try:
                pictures |= reading[i].result()
                seen[i] = request
            except ImageError as why:
                yield i, Reply(error=str(why))
        if seen:
            yield from self._ask(seen, pictures)

    def _ask(
        self, batch: dict[int, Request], pictures: DecodedImages
    ) -> Iterator[tuple[int, Reply]]:
        """Answer a batch; one that fails is asked in halves, down to the request that fails."""
        self._model = self._model or self._load()
        half = (len(batch) + 1) // 2
        try:
            replies = self._converse(self._model, list(batch.values()), pictures)
        except (IndexError, MemoryError, RuntimeError, ValueError) as why:
            error = first_line(why)
            if device_memory.ran_out(why):
                self._batch_size = half
        else:
            yield from zip(batch, replies, strict=True)
            return
        # Here: until the handler above is left, its traceback holds the tensors.
        device_memory.free()
        if len(batch) == 1:
            yield from ((i, Reply(error=error)) for i in batch)
            return
        items = list(batch.items())
        yield from self._ask(dict(items[:half]), pictures)
        yield from self._ask(dict(items[half:]), pictures)

    def _converse(
        self, model: Answers, requests: Sequence[Request], pictures: DecodedImages
    ) -> list[Reply]:
        """Answer every open turn, first all first ones; tokens and seconds are those of all."""
        conversations: list[list[Message]] = [[] for _ in requests]
        answers: list[list[Reply]] = []
        for turns in zip(*(rounds(request.prompt) for request in requests), strict=True):
            for conversation, asked in zip(conversations, turns, strict=True):
                conversation += [message(turn, pictures) for turn in asked]
            answers.append(model.answer(conversations, self._draw(requests, len(answers))))
            for conversation, reply in zip(conversations, answers[-1], strict=True):
                said = Turn("assistant", (without_reasoning(reply.text),))
                conversation.append(message(said, pictures))
        if not answers:
            raise ValueError("the prompt leaves no turn of the user to be answered")
        return [_last_of(replies) for replies in zip(*answers, strict=True)]

    def _draw(self, requests: Sequence[Request], turn: int) -> Draw:
        spec = self._spec
        return Draw(
            max_tokens=spec.max_tokens,
            temperature=requests[0].temperature or 0.0,
            top_p=spec.top_p,
            seeds=[f"{spec.seed} {r.prompt.sha256} {r.sample} {turn}" for r in requests],
        )


def as_asked(request: Request, spec: LocalSpec) -> Request:
    """Put the configured temperature where there is none; drop pictures nobody can see."""
    prompt = request.prompt.without_images() if spec.text_only else request.prompt
    temperature = spec.temperature if request.temperature is None else request.temperature
    return replace(request, prompt=prompt, temperature=temperature)


def in_order(asked: Sequence[Request]) -> list[int]:
    """Positions of requests in the order to ask them: group by group, longest first."""
    return sorted(range(len(asked)), key=lambda i: _rank(asked[i]), reverse=True)


def _group(request: Request) -> tuple[float, int, int]:
    prompt = request.prompt
    return request.temperature or 0.0, len(rounds(prompt)), len(prompt.images)


def _rank(request: Request) -> tuple[float, int, int, int]:
    return *_group(request), len(request.prompt.to_json())


def _take(pending: deque[int], asked: Sequence[Request], size: int) -> Iterator[int]:
    """Take up to ``size`` of the first requests, all of one group."""
    group = _group(asked[pending[0]])
    while pending and size and _group(asked[pending[0]]) == group:
        size -= 1
        yield pending.popleft()


def _last_of(replies: Sequence[Reply]) -> Reply:
    return replace(
        replies[-1],
        prompt_tokens=sum(reply.prompt_tokens or 0 for reply in replies),
        completion_tokens=sum(reply.completion_tokens or 0 for reply in replies),
        seconds=sum(reply.seconds or 0.0 for reply in replies),
    )
