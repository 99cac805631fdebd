"""Hands requests out in chunks to whoever is free, and those of the dead to others."""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bench_assets.core.schema.chat import Request, Response
from bench_assets.core.schema.errors import ModelError
from resources.config.sections.local_models import LocalSpec
from resources.models.workers.batching import as_asked, in_order
from resources.models.workers.port import Chunk, Done, Said, Worker, WorkerDied, Workers

_BATCHES_A_CHUNK = 8  # at most: images are read ahead only within a chunk
_CHUNKS_A_WORKER = 4  # of what is left, so that all finish at about the same time
_WORDS = {1: "one", 2: "two"}


class Chunks:
    """One stream: what still waits, who was handed what, and over what somebody died."""

    def __init__(self, spec: LocalSpec, requests: Sequence[Request], workers: Workers) -> None:
        # Engines never look at the question, and it need not travel.
        self._asked = [replace(as_asked(r, spec), question=None) for r in requests]
        self._waiting = deque(in_order(self._asked))
        self._batch_size = spec.batch_size
        self._workers = workers
        self._handed: dict[Worker, Chunk] = {}
        self._deaths: Counter[int] = Counter()
        self._why = ""
        self.peak_memory: int | None = None

    @property
    def is_under_way(self) -> bool:
        """Whether somebody is still answering."""
        return bool(self._handed)

    def responses(self) -> Iterator[tuple[int, Response]]:
        """Hand out chunks and listen, until everything is answered or nobody is left.

        Raises:
            ModelError: If the model cannot be asked at all.
        """
        while self._waiting or self._handed:
            self._hand_out()
            for worker, said in self._workers.hear():
                yield from self._take(worker, said)
            if not self._workers.n_alive:
                error = f"{self._why}, the last there was"
                yield from ((i, Response(error=error)) for i in self._waiting)
                return

    def _hand_out(self) -> None:
        for worker in self._workers.free():
            if self._waiting:
                share = len(self._waiting) // (_CHUNKS_A_WORKER * self._workers.n_alive)
                n = max(self._batch_size, min(share, _BATCHES_A_CHUNK * self._batch_size))
                chunk = {i: self._asked[i] for i in self._next(n)}
                self._handed[worker] = dict(chunk)
                worker.ask(chunk)

    def _next(self, n: int) -> list[int]:
        """Take what is asked next; alone, if it would be the last try: only one may be to blame."""
        positions = [self._waiting.popleft()]
        if self._is_last_try(positions[0]):
            return positions
        while len(positions) < n and self._waiting and not self._is_last_try(self._waiting[0]):
            positions.append(self._waiting.popleft())
        return positions

    def _is_last_try(self, position: int) -> bool:
        return self._deaths[position] == self._workers.most_deaths - 1

    def _take(self, worker: Worker, said: Said | WorkerDied) -> Iterator[tuple[int, Response]]:
        match said:
            case WorkerDied():
                self._why = said.why
                yield from self._bury(self._handed.pop(worker, {}))
            case Done():
                del self._handed[worker]
                self.peak_memory = max(self.peak_memory or 0, said.peak_memory or 0) or None
            case ModelError():
                raise said
            case (position, response):
                del self._handed[worker][position]
                yield position, response

    def _bury(self, left: Chunk) -> Iterator[tuple[int, Response]]:
        """Let another one ask what one leaves behind, unless too many died of it."""
        self._deaths.update(list(left))
        for i in left:
            if self._deaths[i] < self._workers.most_deaths:
                self._waiting.append(i)
            else:
                others = _WORDS[self._deaths[i] - 1]
                yield (
                    i,
                    Response(error=f"{self._why}, and {others} before it over the same requests"),
                )
