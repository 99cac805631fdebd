"""Batching of local requests: order, image prefetch, recovery from failures."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from bench_assets.core.reading.reasoning import strip_reasoning
from bench_assets.core.schema.chat import CONTEXT_FULL, Prompt, Request, Response, Turn
from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.hub_access import first_line
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.models.workers.local_model import (
    ContextFullError,
    DecodedImages,
    Draw,
    LoadedModel,
    Message,
    decode,
    free_memory,
    is_out_of_memory,
    to_message,
)
from bench_resources.response_cache.engine import ReadImage


def apply_section(request: Request, spec: TransformersSpec) -> Request:
    """Set the configured temperature if none is; drop the images for a text-only model."""
    prompt = request.prompt.without_images() if spec.text_only else request.prompt
    temperature = spec.temperature if request.temperature is None else request.temperature
    return replace(request, prompt=prompt, temperature=temperature)


def processing_order(requests: Sequence[Request]) -> list[int]:
    """Positions of requests in processing order: by group, the longest of each first."""
    return sorted(range(len(requests)), key=lambda i: _order_key(requests[i]), reverse=True)


def _group_key(request: Request) -> tuple[float, str, int, int]:
    """What requests of one batch have in common."""
    prompt = request.prompt
    return request.temperature or 0.0, request.elicit, len(prompt.rounds()), len(prompt.images)


def _order_key(request: Request) -> tuple[float, str, int, int, int]:
    return *_group_key(request), len(request.prompt.to_json())


def take_group(pending: deque[int], requests: Sequence[Request], size: int) -> Iterator[int]:
    """Remove and yield up to ``size`` of the first positions, whose requests are of one group."""
    group = _group_key(requests[pending[0]])
    for _ in range(size):
        if not pending or _group_key(requests[pending[0]]) != group:
            return
        yield pending.popleft()


_READERS = 4  # threads that decode images
_BATCHES_AHEAD = 2  # batches prepared while one is computed
_BATCHES_THAT_FIT = 8  # batches that fit before a larger one is tried
_WINDOW = 4  # batches whose images are decoded ahead, to group similar sizes
_MOST_PIXELS = 2**28  # pixels that are decoded at once, unless one batch has more; 768 MiB
_ASSUMED_PIXELS = 2**24  # pixels assumed per request before any was read


@dataclass(frozen=True, slots=True)
class _SizedRequest:
    """The decoded images of a request, and their tokens."""

    images: DecodedImages
    tokens: int

    @property
    def pixels(self) -> int:
        return sum(image.width * image.height for image in self.images.values())


@dataclass(frozen=True, slots=True)
class _Batch:
    """Requests to be answered together."""

    requests: dict[int, Request]  # by position
    images: DecodedImages
    prepared: Future[Any] | None = None  # the first round


class BatchSize:
    """Maximum requests per batch: halved when memory runs out, doubled after batches that fit.

    Later requests are shorter. If a larger batch fails again, twice as many have to fit before the
    next try.
    """

    def __init__(self, maximum: int) -> None:
        self.current = self._maximum = maximum
        self._n_fit = 0  # batches that fit since the size last changed
        self._needed_fits = _BATCHES_THAT_FIT
        self._has_grown = False

    def count_fit(self, n: int) -> None:
        """Count a batch of n requests that fit into the memory; enough of them double the size."""
        if n >= self.current:
            self._n_fit += 1
        if self.current < self._maximum and self._n_fit >= self._needed_fits:
            self.current = min(2 * self.current, self._maximum)
            self._n_fit, self._has_grown = 0, True

    def halve(self, n: int) -> None:
        """Halve the size after a batch of n requests ran out of memory."""
        self.current, self._n_fit = (n + 1) // 2, 0
        self._needed_fits *= 2 if self._has_grown else 1
        self._has_grown = False


class Batches:
    """Answers requests with one model, loaded at the first request.

    Requests with the same number of turns and images form batches, longest first, so that padding
    is small and memory runs out at the start, if at all (see ``BatchSize``). A request that fails
    alone gets ``error`` and does not affect the others.

    While the model answers a batch, threads decode the images and prepare the tensors of the next.
    """

    def __init__(
        self, spec: TransformersSpec, read_image: ReadImage, load: Callable[[], LoadedModel]
    ) -> None:
        self._spec = spec
        self._read_image = read_image
        self._load = load
        self._model: LoadedModel | None = None
        self._size = BatchSize(spec.batch_size)

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Yield position and response, batch by batch; undecodable images come last, as errors."""
        configured = [apply_section(request, self._spec) for request in requests]
        failures: list[tuple[int, Response]] = []
        with _thread_pool(_READERS) as readers, _thread_pool(_BATCHES_AHEAD) as preparers:
            batches = (
                self._prepare(batch, preparers)
                for batch in self._iter_batches(configured, readers, failures)
            )
            prepared = deque(islice(batches, _BATCHES_AHEAD))
            while prepared:
                yield from self._answer(prepared.popleft())
                prepared.extend(islice(batches, 1))
        yield from failures

    def close(self) -> None:
        """Free the memory; a later request loads the model again."""
        if self._model:
            self._model = None
            free_memory()

    @property
    def _loaded(self) -> LoadedModel:
        self._model = self._model or self._load()
        return self._model

    def _iter_batches(
        self,
        requests: Sequence[Request],
        readers: ThreadPoolExecutor,
        failures: list[tuple[int, Response]],
    ) -> Iterator[_Batch]:
        """Form batches; requests whose images do not decode are added to ``failures``."""
        pending = deque(processing_order(requests))
        decoding: dict[int, Future[_SizedRequest]] = {}  # by position
        pixels = _ASSUMED_PIXELS
        while pending:
            # The other half of the pixels is for the next window.
            max_window = max(_MOST_PIXELS // (2 * max(1, pixels)), self._size.current)
            window = min(max_window, _WINDOW * self._size.current)
            for i in islice(pending, 2 * window):
                if i not in decoding:
                    decoding[i] = readers.submit(self._decode, self._loaded, requests[i].prompt)
            sized: dict[int, _SizedRequest] = {}
            for i in take_group(pending, requests, window):
                try:
                    sized[i] = decoding.pop(i).result()
                except ModelError:
                    raise
                except Exception as exc:  # noqa: BLE001 - any exception: image formats differ
                    failures.append((i, Response(error=first_line(exc))))
            pixels = max((request.pixels for request in sized.values()), default=pixels)
            yield from self._form_batches(requests, sized)

    def _form_batches(
        self, requests: Sequence[Request], sized: Mapping[int, _SizedRequest]
    ) -> Iterator[_Batch]:
        """Form batches of requests with similar numbers of image tokens, the most first."""
        pending = deque(sorted(sized, key=lambda i: sized[i].tokens, reverse=True))
        while pending:
            max_size = max(1, self._spec.batch_tokens // max(1, sized[pending[0]].tokens))
            size = min(self._size.current, max_size, len(pending))
            positions = [pending.popleft() for _ in range(size)]
            images = {sha256: image for i in positions for sha256, image in sized[i].images.items()}
            yield _Batch(requests={i: requests[i] for i in positions}, images=images)

    def _decode(self, model: LoadedModel, prompt: Prompt) -> _SizedRequest:
        limit = self._spec.max_image_pixels
        images = {
            image.sha256: decode(image, self._read_image(image.sha256), limit)
            for image in prompt.images
        }
        tokens = model.count_image_tokens([images[image.sha256] for image in prompt.images])
        return _SizedRequest(images=images, tokens=tokens)

    def _prepare(self, batch: _Batch, preparers: ThreadPoolExecutor) -> _Batch:
        """Start to prepare the first round of a batch."""
        rounds = [request.prompt.rounds() for request in batch.requests.values()]
        if not all(rounds):
            return batch  # nothing to answer, which is reported when it is sent
        chats = [[to_message(turn, batch.images) for turn in first] for first, *_ in rounds]
        return replace(batch, prepared=preparers.submit(self._loaded.prepare, chats))

    def _answer(self, batch: _Batch) -> Iterator[tuple[int, Response]]:
        """Answer a batch; a failing one is halved down to the request that fails."""
        if len(batch.requests) > self._size.current:  # formed before memory ran out
            yield from self._answer_halves(batch)
            return
        try:
            responses = self._converse(batch)
        except ModelError:
            raise
        except Exception as exc:  # noqa: BLE001 - any exception: templates and families differ
            failure = Response(
                error=first_line(exc),
                refused=CONTEXT_FULL if isinstance(exc, ContextFullError) else "",
            )
            if is_out_of_memory(exc):
                self._size.halve(len(batch.requests))
        else:
            self._size.count_fit(len(batch.requests))
            yield from zip(batch.requests, responses, strict=True)
            return
        # Not in the handler above, whose traceback holds the tensors.
        free_memory()
        if len(batch.requests) == 1:
            yield from ((i, failure) for i in batch.requests)
        else:
            yield from self._answer_halves(batch)

    def _answer_halves(self, batch: _Batch) -> Iterator[tuple[int, Response]]:
        items = list(batch.requests.items())
        half = (len(items) + 1) // 2
        for part in (items[:half], items[half:]):
            yield from self._answer(_Batch(requests=dict(part), images=batch.images))

    def _converse(self, batch: _Batch) -> list[Response]:
        """Answer every open turn; tokens and seconds are sums over the turns."""
        requests = list(batch.requests.values())
        rounds = [request.prompt.rounds() for request in requests]
        n_rounds = len(rounds[0])  # all requests of a batch have as many
        if not n_rounds:
            raise ValueError("the prompt has no unanswered user turn")
        chats: list[list[Message]] = [[] for _ in requests]
        responses: list[list[Response]] = [[] for _ in requests]  # by request, then round
        for n, round_turns in enumerate(zip(*rounds, strict=True)):
            for chat, turns in zip(chats, round_turns, strict=True):
                chat += [to_message(turn, batch.images) for turn in turns]
            if n == 0 and batch.prepared:
                prepared = batch.prepared.result()
            else:
                prepared = self._loaded.prepare(chats)
            draw = self._draw(requests, n, is_last=n == n_rounds - 1)
            answers = self._loaded.answer(prepared, draw)
            for chat, earlier, answer in zip(chats, responses, answers, strict=True):
                earlier.append(answer)
                stripped = strip_reasoning(answer.text, self._spec.thinking_tags)
                chat.append(to_message(Turn("assistant", (stripped,)), batch.images))
        return list(map(_combine_rounds, responses))

    def _draw(self, requests: Sequence[Request], round_index: int, *, is_last: bool) -> Draw:
        spec = self._spec
        return Draw(
            max_tokens=spec.max_tokens,
            temperature=requests[0].temperature or 0.0,
            top_p=spec.top_p,
            seeds=[f"{spec.seed} {r.prompt.sha256} {r.sample} {round_index}" for r in requests],
            elicit=requests[0].elicit if is_last else "",
            options=[request.options for request in requests],
        )


def _combine_rounds(responses: Sequence[Response]) -> Response:
    """Combine the responses of all rounds; the first error is final."""
    for response in responses:
        if response.error:
            return response
    return Response.combine(responses)


@contextmanager
def _thread_pool(n_threads: int) -> Iterator[ThreadPoolExecutor]:
    """A thread pool whose queued tasks are dropped at the end of the block."""
    pool = ThreadPoolExecutor(n_threads)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
