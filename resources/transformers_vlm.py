"""The local engine: a Hugging Face checkpoint, asked in batches in this process."""

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Protocol, TypeAlias

from bench_assets.core.chat import Decoding, Prompt, Reply, Request, Turn, without_reasoning
from bench_assets.core.errors import ImageError
from resources.checkpoints import Checkpoint, first_line, pin
from resources.engine import ReadImage
from resources.model_specs import TransformersSpec
from resources.transformers_model import Draw, dtype_of, load
from resources.transformers_prompts import DecodedImages, Message, decode, message, rounds

_READERS = 4
_BATCHES_AHEAD = 2


class Answers(Protocol):
    """What the engine needs of a loaded model."""

    def answer(self, conversations: Sequence[Sequence[Message]], draw: Draw) -> list[Reply]:
        """Generate the next turn of each conversation."""
        ...


Load: TypeAlias = Callable[[TransformersSpec, Checkpoint], Answers]


class TransformersEngine:
    """Runs a checkpoint on CUDA, MPS or the CPU; weights are loaded at the first request.

    Requests with the same number of turns and pictures are asked together, longest first, so that
    little is padded and memory runs out at the start, if at all. Then the batch is halved, and
    stays so. A request that fails alone is answered with ``error`` and costs the others nothing.

    In float32 on the CPU a reply is the same alone and in any batch; in half precision, and on
    GPUs, sums are rounded differently in different batches, and a near-tie may fall the other way.
    Sampled replies depend on seed, prompt and sample number, not on what else is asked.
    """

    def __init__(
        self,
        spec: TransformersSpec,
        location: str,
        read_image: ReadImage,
        load: Load = load,
    ) -> None:
        """Prepare to load ``location``: a folder, ``package:NAME`` or a hub id."""
        self._spec = spec
        self._location = location
        self._read_image = read_image
        self._load = load
        self._model: Answers | None = None
        self._batch_size = spec.batch_size

    @cached_property
    def identity(self) -> str:
        """Content or commit of the checkpoint, precision, and what is done to the prompt.

        Raises:
            ModelError: If there is no such checkpoint or it is incomplete.
        """
        parts = [self._checkpoint.content, dtype_of(self._spec)]
        parts += [f"px={limit}"] if (limit := self._spec.max_image_pixels) else []
        parts += ["text_only"] if self._spec.text_only else []
        return ",".join(parts)

    @property
    def decoding(self) -> Decoding:
        """How replies are drawn where a request does not say otherwise."""
        return self._spec.decoding

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """Answer requests batch by batch; yields position and reply.

        Raises:
            ModelError: If the checkpoint is incomplete or does not load.
        """
        asked = [self._as_asked(request) for request in requests]
        pending = deque(sorted(range(len(asked)), key=lambda i: _rank(asked[i]), reverse=True))
        ahead: dict[int, Future[DecodedImages]] = {}
        with ThreadPoolExecutor(_READERS) as readers:
            while pending:
                for i in islice(pending, _BATCHES_AHEAD * self._batch_size):
                    if i not in ahead:
                        ahead[i] = readers.submit(self._pictures, asked[i].prompt)
                batch = {i: asked[i] for i in _take(pending, asked, self._batch_size)}
                yield from self._answer(batch, {i: ahead.pop(i) for i in batch})

    def close(self) -> None:
        """Give back the memory; a later request loads the weights again."""
        if self._model:
            self._model = None
            _free_memory()

    @cached_property
    def _checkpoint(self) -> Checkpoint:
        return pin(self._spec, self._location)

    def _as_asked(self, request: Request) -> Request:
        """Put the configured temperature where there is none; drop pictures nobody can see."""
        prompt = request.prompt.without_images() if self._spec.text_only else request.prompt
        given = request.temperature
        temperature = self._spec.temperature if given is None else given
        return replace(request, prompt=prompt, temperature=temperature)

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
        self._model = self._model or self._load(self._spec, self._checkpoint)
        half = (len(batch) + 1) // 2
        try:
            replies = self._converse(self._model, list(batch.values()), pictures)
        except (IndexError, MemoryError, RuntimeError, ValueError) as why:
            error = first_line(why)
            if _is_out_of_memory(why):
                self._batch_size = half
        else:
            yield from zip(batch, replies, strict=True)
            return
        _free_memory()  # here: until the handler above is left, its traceback holds the tensors
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


def _is_out_of_memory(why: Exception) -> bool:
    import torch

    # CPU and MPS raise a plain RuntimeError.
    return isinstance(why, MemoryError | torch.OutOfMemoryError) or (
        isinstance(why, RuntimeError)
        and re.search("out of memory|can't allocate|not enough memory", str(why)) is not None
    )


def _free_memory() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    elif torch.backends.mps.is_available():
        torch.mps.empty_cache()
