"""One model many times: requests go to whichever of its workers is free."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from bench_assets.core.schema.chat import Decoding, Request, Response
from resources.models.workers.port import Job, Workers
from resources.models.workers.work_queue import Chunks
from resources.response_cache.engine import Engine, LooksFurther
from resources.response_cache.image_changes import ShownImages


class LocalEngine(Engine, LooksFurther, Protocol):
    """An engine of this machine that can say what it takes to ask the same elsewhere."""

    shown: ShownImages

    @property
    def decoding(self) -> Decoding:
        """How responses are drawn where a request does not say otherwise."""
        ...

    @property
    def job(self) -> Job:
        """What a worker elsewhere needs to know."""
        ...


class SideBySide:
    """Asks workers that have all the weights each; they start at the first request.

    Responses come to this process, which alone writes them down. Identity and decoding are those of
    one engine, so that a model keeps its responses however many ask it.
    """

    def __init__(self, one: LocalEngine, workers: Callable[[Job], Workers]) -> None:
        """Prepare to ask what ``one`` would; ``workers`` makes those that are asked."""
        self._one = one
        self._make = workers
        self.particulars = one.particulars
        self._workers: Workers | None = None
        self._peak_memory: int | None = None

    @property
    def identity(self) -> str:
        """That of the checkpoint, asked by one alone.

        Raises:
            ModelError: If there is no such checkpoint here, or it is incomplete.
        """
        return self._one.identity

    @property
    def decoding(self) -> Decoding:
        """How responses are drawn where a request does not say otherwise."""
        return self._one.decoding

    @property
    def peak_memory(self) -> int | None:
        """Bytes on the fullest device during the last stream, weights included; CUDA only."""
        return self._peak_memory

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Answer requests, longest first, by all workers; yields position and response.

        Closing the iterator early ends the workers.

        Raises:
            ModelError: If no worker can start, or the checkpoint does not load whole, is another
                one where a worker is, or has a card that cannot be followed.
        """
        job = self._one.job
        self._workers = self._workers or self._make(job)
        self._workers.start()
        chunks = Chunks(job.spec, requests, self._workers)
        try:
            yield from self._one.shown.noted(requests, chunks.responses())
        finally:
            self._peak_memory = chunks.peak_memory
            if chunks.is_under_way:
                self.close()

    def close(self) -> None:
        """End the workers; a later request starts them again."""
        if self._workers:
            self._workers.end()
