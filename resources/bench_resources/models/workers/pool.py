"""Worker pool: chunks of requests go to whichever worker is free."""

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from bench_assets.core.schema.chat import Decoding, ElicitsOptions, Request, Response
from bench_assets.core.schema.errors import ModelError
from bench_resources.config.sections.local_models import LocalSpec
from bench_resources.models.workers.batching import apply_section, in_order
from bench_resources.models.workers.port import (
    Chunk,
    ChunkDone,
    Job,
    Worker,
    WorkerDied,
    WorkerMessage,
    Workers,
)
from bench_resources.response_cache.engine import Engine, KeyExtension
from bench_resources.response_cache.image_changes import ImageChangeRecorder

_BATCHES_A_CHUNK = 8  # at most: images are read ahead only within a chunk
_CHUNKS_A_WORKER = 4  # of what is left, so that all finish at about the same time
_WORDS = {1: "one", 2: "two"}


class ChunkScheduler:
    """Progress of one stream: waiting requests, chunks by worker, deaths by request."""

    def __init__(self, spec: LocalSpec, requests: Sequence[Request], workers: Workers) -> None:
        # Engines do not use the question, so it is not sent.
        self._asked = [replace(apply_section(r, spec), question=None) for r in requests]
        self._waiting = deque(in_order(self._asked))
        self._batch_size = spec.batch_size
        self._workers = workers
        self._handed: dict[Worker, Chunk] = {}
        self._deaths: Counter[int] = Counter()
        self._why = ""
        self.peak_memory: int | None = None

    @property
    def is_under_way(self) -> bool:
        """Whether a worker still has a chunk."""
        return bool(self._handed)

    def responses(self) -> Iterator[tuple[int, Response]]:
        """Hand out chunks and yield responses until all are answered or no worker is left.

        Raises:
            ModelError: If the model cannot answer at all.
        """
        while self._waiting or self._handed:
            self._dispatch()
            for worker, message in self._workers.receive():
                yield from self._take(worker, message)
            if not self._workers.n_alive:
                error = f"{self._why}, and no worker is left"
                yield from ((i, Response(error=error)) for i in self._waiting)
                return

    def _dispatch(self) -> None:
        for worker in self._workers.free():
            if self._waiting:
                share = len(self._waiting) // (_CHUNKS_A_WORKER * self._workers.n_alive)
                n = max(self._batch_size, min(share, _BATCHES_A_CHUNK * self._batch_size))
                chunk = {i: self._asked[i] for i in self._next(n)}
                self._handed[worker] = dict(chunk)
                worker.ask(chunk)

    def _next(self, n: int) -> list[int]:
        """The next requests; one with a single attempt left goes alone."""
        positions = [self._waiting.popleft()]
        if self._is_last_try(positions[0]):
            return positions
        while len(positions) < n and self._waiting and not self._is_last_try(self._waiting[0]):
            positions.append(self._waiting.popleft())
        return positions

    def _is_last_try(self, position: int) -> bool:
        return self._deaths[position] == self._workers.most_deaths - 1

    def _take(
        self, worker: Worker, said: WorkerMessage | WorkerDied
    ) -> Iterator[tuple[int, Response]]:
        match said:
            case WorkerDied():
                self._why = said.why
                yield from self._handle_death(self._handed.pop(worker, {}))
            case ChunkDone():
                del self._handed[worker]
                self.peak_memory = max(self.peak_memory or 0, said.peak_memory or 0) or None
            case ModelError():
                raise said
            case (position, response):
                del self._handed[worker][position]
                yield position, response

    def _handle_death(self, left: Chunk) -> Iterator[tuple[int, Response]]:
        """Requeue the requests of a dead worker, unless too many died of them."""
        self._deaths.update(list(left))
        for i in left:
            if self._deaths[i] < self._workers.most_deaths:
                self._waiting.append(i)
            else:
                others = _WORDS[self._deaths[i] - 1]
                yield (
                    i,
                    Response(error=f"{self._why}, and {others} before it on the same requests"),
                )


class LocalEngine(Engine, KeyExtension, Protocol):
    """A local engine that can describe its job to workers."""

    shown: ImageChangeRecorder

    @property
    def decoding(self) -> Decoding:
        """The default decoding of a request."""
        ...

    @property
    def job(self) -> Job:
        """The description of the model for a worker."""
        ...


class WorkerPoolEngine:
    """Answers requests by workers, each with all the weights, started on demand.

    Only this process writes to the cache. Identity and decoding are those of one engine.
    """

    def __init__(self, one: LocalEngine, workers: Callable[[Job], Workers]) -> None:
        """Wrap ``one``; ``workers`` makes the worker pool."""
        self._one = one
        self._make = workers
        self.particulars = one.particulars
        self._workers: Workers | None = None
        self._peak_memory: int | None = None

    @property
    def identity(self) -> str:
        """The identity of the wrapped engine."""
        return self._one.identity

    @property
    def decoding(self) -> Decoding:
        """The default decoding of a request."""
        return self._one.decoding

    @property
    def elicits(self) -> Collection[str]:
        """Methods of the wrapped engine beside generation."""
        return self._one.elicits if isinstance(self._one, ElicitsOptions) else ()

    @property
    def peak_memory(self) -> int | None:
        """Peak bytes on the fullest device during the last stream; CUDA only."""
        return self._peak_memory

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Yield position and response, longest requests first.

        Closing the iterator early stops the workers.
        """
        job = self._one.job
        self._workers = self._workers or self._make(job)
        self._workers.start()
        chunks = ChunkScheduler(job.spec, requests, self._workers)
        try:
            yield from self._one.shown.noted(requests, chunks.responses())
        finally:
            self._peak_memory = chunks.peak_memory
            if chunks.is_under_way:
                self.close()

    def close(self) -> None:
        """Stop the workers; a later request starts them again."""
        if self._workers:
            self._workers.end()
