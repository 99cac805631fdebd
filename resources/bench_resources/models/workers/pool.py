"""Worker pool: chunks of requests go to whichever process is free."""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bench_assets.core.schema.chat import Request, Response
from bench_assets.core.schema.errors import ModelError
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.models.workers.batching import apply_section, in_order
from bench_resources.models.workers.port import Chunk, ChunkDone, WorkerDied, WorkerMessage
from bench_resources.models.workers.processes import WorkerProcess, WorkerProcesses

_BATCHES_A_CHUNK = 8  # at most: images are read ahead only within a chunk
_CHUNKS_A_WORKER = 4  # of what is left, so that all finish at about the same time
_MOST_DEATHS = 2  # processes that may die of a request before it is given up


class ChunkScheduler:
    """Progress of one stream: waiting requests, chunks by worker, deaths by request."""

    def __init__(
        self, spec: TransformersSpec, requests: Sequence[Request], workers: WorkerProcesses
    ) -> None:
        # Engines do not use the question, so it is not sent.
        self._requests = [replace(apply_section(r, spec), question=None) for r in requests]
        self._waiting = deque(in_order(self._requests))
        self._batch_size = spec.batch_size
        self._workers = workers
        self._handed: dict[WorkerProcess, Chunk] = {}
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
                chunk = {i: self._requests[i] for i in self._next(n)}
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
        return self._deaths[position] == _MOST_DEATHS - 1

    def _take(
        self, worker: WorkerProcess, message: WorkerMessage | WorkerDied
    ) -> Iterator[tuple[int, Response]]:
        match message:
            case WorkerDied():
                self._why = message.why
                yield from self._handle_death(self._handed.pop(worker, {}))
            case ChunkDone():
                del self._handed[worker]
                self.peak_memory = max(self.peak_memory or 0, message.peak_memory or 0) or None
            case ModelError():
                raise message
            case (position, response):
                del self._handed[worker][position]
                yield position, response

    def _handle_death(self, left: Chunk) -> Iterator[tuple[int, Response]]:
        """Requeue the requests of a dead worker, unless too many died of them."""
        self._deaths.update(list(left))
        for i in left:
            if self._deaths[i] < _MOST_DEATHS:
                self._waiting.append(i)
            else:
                yield i, Response(error=f"{self._why}, and one before it on the same requests")
