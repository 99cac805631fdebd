"""Batching of local requests: order, image prefetch, recovery from failures."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeAlias

from bench_assets.core.reading.reasoning import strip_reasoning
from bench_assets.core.schema.chat import CONTEXT_FULL, Prompt, Request, Response, Turn
from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.hub_access import first_line
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.models.workers.local_model import (
    Answers,
    ContextFullError,
    DecodedImages,
    Draw,
    Message,
    decode,
    free_memory,
    is_out_of_memory,
    message,
)
from bench_resources.response_cache.engine import ReadImage


def apply_section(request: Request, spec: TransformersSpec) -> Request:
    """Apply the configured temperature; drop the images of a text-only model."""
    prompt = request.prompt.without_images() if spec.text_only else request.prompt
    temperature = spec.temperature if request.temperature is None else request.temperature
    return replace(request, prompt=prompt, temperature=temperature)


def in_order(requests: Sequence[Request]) -> list[int]:
    """Positions of requests in processing order: group by group, longest first."""
    return sorted(range(len(requests)), key=lambda i: _rank(requests[i]), reverse=True)


def _group(request: Request) -> tuple[float, str, int, int]:
    prompt = request.prompt
    return request.temperature or 0.0, request.elicit, len(prompt.rounds()), len(prompt.images)


def _rank(request: Request) -> tuple[float, str, int, int, int]:
    return *_group(request), len(request.prompt.to_json())


def take_group(pending: deque[int], requests: Sequence[Request], size: int) -> Iterator[int]:
    """Up to ``size`` of the first requests, all of one group."""
    group = _group(requests[pending[0]])
    while pending and size and _group(requests[pending[0]]) == group:
        size -= 1
        yield pending.popleft()


_READERS = 4  # threads that decode images
_BATCHES_AHEAD = 2  # batches prepared while one is computed
_BATCHES_THAT_FIT = 8  # before a larger one is tried: a failing batch costs as much as one
_WINDOW = 4  # batches whose images are decoded ahead, to group similar sizes
_MOST_PIXELS = 2**28  # decoded at once, unless one batch has more; 768 MiB
_ASSUMED_PIXELS = 2**24  # pixels assumed per request before any was read

Conversations: TypeAlias = list[list[Message]]


@dataclass(frozen=True, slots=True)
class _SizedRequest:
    """The decoded images of a request, and their tokens."""

    images: DecodedImages
    weight: int

    @property
    def pixels(self) -> int:
        return sum(image.width * image.height for image in self.images.values())


@dataclass(frozen=True, slots=True)
class _Batch:
    """A batch: requests by position, their images, and the first turn in preparation."""

    requests: dict[int, Request]  # by position
    images: DecodedImages
    prepared: Future[Any] | None = None


class BatchSize:
    """Maximum requests per batch: halved when memory runs out, doubled after batches that fit.

    Later requests are shorter. If a larger batch fails again, twice as many have to fit before the
    next try.
    """

    def __init__(self, most: int) -> None:
        self.now = self._most = most
        self._n_fit, self._needed, self._has_grown = 0, _BATCHES_THAT_FIT, False

    def fit(self, n: int) -> None:
        """Count a batch of n requests that the model has answered."""
        self._n_fit += n >= self.now
        if self.now < self._most and self._n_fit >= self._needed:
            self.now, self._n_fit, self._has_grown = min(2 * self.now, self._most), 0, True

    def overflow(self, n: int) -> None:
        """Halve the size after a batch of n requests ran out of memory."""
        self.now, self._n_fit = (n + 1) // 2, 0
        self._needed *= 2 if self._has_grown else 1
        self._has_grown = False


class Batches:
    """Answers requests with one model, loaded at the first request.

    Requests with the same number of turns and images form batches, longest first, so that padding
    is small and memory runs out at the start, if at all (see ``BatchSize``). A request that fails
    alone gets ``error`` and does not affect the others.

    While the model answers a batch, threads decode the images and prepare the tensors of the next.
    """

    def __init__(
        self,
        spec: TransformersSpec,
        read_image: ReadImage,
        load: Callable[[], Answers],
    ) -> None:
        self._spec = spec
        self._read_image = read_image
        self._load = load
        self._model: Answers | None = None
        self._size = BatchSize(spec.batch_size)

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Yield position and response, batch by batch."""
        configured = [apply_section(request, self._spec) for request in requests]
        failed: list[tuple[int, Response]] = []
        with _threads(_READERS) as readers, _threads(_BATCHES_AHEAD) as makers:
            batches = self._batches(configured, readers, failed)
            ahead = deque(self._prepare(b, makers) for b in islice(batches, _BATCHES_AHEAD))
            while ahead:
                batch = ahead.popleft()
                yield from self._ask(batch)
                ahead.extend(self._prepare(b, makers) for b in islice(batches, 1))
        yield from failed

    def close(self) -> None:
        """Free the memory; a later request loads the model again."""
        if self._model:
            self._model = None
            free_memory()

    @property
    def _loaded(self) -> Answers:
        self._model = self._model or self._load()
        return self._model

    def _batches(
        self,
        requests: Sequence[Request],
        readers: ThreadPoolExecutor,
        failed: list[tuple[int, Response]],
    ) -> Iterator[_Batch]:
        """Form batches; requests whose images do not decode are added to ``failed``."""
        pending = deque(in_order(requests))
        ahead: dict[int, Future[_SizedRequest]] = {}
        pixels = _ASSUMED_PIXELS
        while pending:
            room = _MOST_PIXELS // (2 * max(1, pixels))  # the other half is for the next window
            window = min(max(room, self._size.now), _WINDOW * self._size.now)
            for i in islice(pending, 2 * window):
                if i not in ahead:
                    ahead[i] = readers.submit(self._seen, self._loaded, requests[i].prompt)
            sized: dict[int, _SizedRequest] = {}
            for i in take_group(pending, requests, window):
                try:
                    sized[i] = ahead.pop(i).result()
                except ModelError:
                    raise
                except Exception as exc:  # noqa: BLE001 - any exception: image formats differ
                    failed.append((i, Response(error=first_line(exc))))
            pixels = max((prompt.pixels for prompt in sized.values()), default=pixels)
            yield from self._cut(requests, sized)

    def _cut(
        self, requests: Sequence[Request], seen: Mapping[int, _SizedRequest]
    ) -> Iterator[_Batch]:
        """Form batches of similar weight, the heaviest first."""
        waiting = deque(sorted(seen, key=lambda i: seen[i].weight, reverse=True))
        while waiting:
            limit = self._spec.batch_tokens // max(1, seen[waiting[0]].weight)
            size = min(self._size.now, max(1, limit))
            batch = [waiting.popleft() for _ in range(min(size, len(waiting)))]
            images = {digest: p for i in batch for digest, p in seen[i].images.items()}
            yield _Batch({i: requests[i] for i in batch}, images)

    def _seen(self, model: Answers, prompt: Prompt) -> _SizedRequest:
        limit = self._spec.max_image_pixels
        decoded = {i.sha256: decode(i, self._read_image(i.sha256), limit) for i in prompt.images}
        return _SizedRequest(decoded, model.weight([decoded[i.sha256] for i in prompt.images]))

    def _prepare(self, batch: _Batch, makers: ThreadPoolExecutor) -> _Batch:
        opening = [request.prompt.rounds()[:1] for request in batch.requests.values()]
        if not all(opening):
            return batch  # nothing to answer, which is reported when it is sent
        talks = [[message(turn, batch.images) for turn in first] for (first,) in opening]
        return replace(batch, prepared=makers.submit(self._loaded.prepare, talks))

    def _ask(self, batch: _Batch) -> Iterator[tuple[int, Response]]:
        """Answer a batch; a failing one is halved down to the request that fails."""
        half = (len(batch.requests) + 1) // 2
        if len(batch.requests) > self._size.now:  # formed before memory ran out
            yield from self._ask_halves(batch, half)
            return
        try:
            responses = self._converse(batch)
        except ModelError:
            raise
        except Exception as exc:  # noqa: BLE001 - any exception: templates and families differ
            failed = Response(
                error=first_line(exc),
                refused=CONTEXT_FULL if isinstance(exc, ContextFullError) else "",
            )
            if is_out_of_memory(exc):
                self._size.overflow(len(batch.requests))
        else:
            self._size.fit(len(batch.requests))
            yield from zip(batch.requests, responses, strict=True)
            return
        # Not in the handler above, whose traceback holds the tensors.
        free_memory()
        if len(batch.requests) == 1:
            yield from ((i, failed) for i in batch.requests)
        else:
            yield from self._ask_halves(batch, half)

    def _ask_halves(self, batch: _Batch, half: int) -> Iterator[tuple[int, Response]]:
        items = list(batch.requests.items())
        yield from self._ask(_Batch(dict(items[:half]), batch.images))
        yield from self._ask(_Batch(dict(items[half:]), batch.images))

    def _converse(self, batch: _Batch) -> list[Response]:
        """Answer every open turn; tokens and seconds are sums over the turns."""
        requests = list(batch.requests.values())
        conversations: Conversations = [[] for _ in requests]
        answers: list[list[Response]] = []
        n_turns = len(requests[0].prompt.rounds())
        for turns in zip(*(request.prompt.rounds() for request in requests), strict=True):
            for conversation, new_turns in zip(conversations, turns, strict=True):
                conversation += [message(turn, batch.images) for turn in new_turns]
            ahead = batch.prepared if not answers else None
            prepared = ahead.result() if ahead else self._loaded.prepare(conversations)
            draw = self._draw(requests, len(answers), is_last=len(answers) == n_turns - 1)
            answers.append(self._loaded.answer(prepared, draw))
            for conversation, response in zip(conversations, answers[-1], strict=True):
                stripped = strip_reasoning(response.text, self._spec.thinking_tags)
                conversation.append(message(Turn("assistant", (stripped,)), batch.images))
        if not answers:
            raise ValueError("the prompt has no unanswered user turn")
        return [_combine_turns(responses) for responses in zip(*answers, strict=True)]

    def _draw(self, requests: Sequence[Request], turn: int, *, is_last: bool) -> Draw:
        spec = self._spec
        return Draw(
            max_tokens=spec.max_tokens,
            temperature=requests[0].temperature or 0.0,
            top_p=spec.top_p,
            seeds=[f"{spec.seed} {r.prompt.sha256} {r.sample} {turn}" for r in requests],
            elicit=requests[0].elicit if is_last else "",
            options=[request.options for request in requests],
        )


def _combine_turns(responses: Sequence[Response]) -> Response:
    """Combine the responses of several turns; an error is final."""
    return next((response for response in responses if response.error), None) or Response.combine(
        responses
    )


@contextmanager
def _threads(number: int) -> Iterator[ThreadPoolExecutor]:
    """A thread pool whose queued tasks are dropped at the end of the block."""
    lent = ThreadPoolExecutor(number)
    try:
        yield lent
    finally:
        lent.shutdown(cancel_futures=True)
