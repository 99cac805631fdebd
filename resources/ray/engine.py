"""One model on many machines: replicas on a Ray cluster, each with all the weights."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from bench_assets.core.chat import Decoding, Reply, Request
from resources.local.chunks import Chunks
from resources.local.workers import Job
from resources.ray.replicas import Replicas
from resources.replies.engine import Engine, LooksFurther
from resources.replies.shown_pictures import ShownPictures
from resources.settings.local_specs import LocalSpec


class LocalEngine(Engine, LooksFurther, Protocol):
    """An engine of this machine that can say what it takes to ask the same elsewhere."""

    shown: ShownPictures

    @property
    def decoding(self) -> Decoding:
        """How replies are drawn where a request does not say otherwise."""
        ...

    @property
    def job(self) -> Job:
        """What a worker elsewhere needs to know."""
        ...


class RayEngine:
    """Asks actors on the nodes of a cluster; they start at the first request.

    Replies are streamed back to this process, which alone writes them down. Of a node that dies
    what it had not answered is asked on another one, and its actor is replaced; what three died
    over comes back with ``error``.

    Identity and decoding are those of the engine of one machine, so that a model keeps its replies
    when it moves to a cluster. Every replica makes sure that the checkpoint on its node is that
    one, to the byte.
    """

    def __init__(self, one: LocalEngine, spec: LocalSpec) -> None:
        """Prepare to ask what ``one`` would."""
        self._one = one
        self._spec = spec
        self.particulars = one.particulars
        self._replicas: Replicas | None = None
        self._peak_memory: int | None = None

    @property
    def identity(self) -> str:
        """That of the checkpoint on one machine.

        Raises:
            ModelError: If there is no such checkpoint here, or it is incomplete.
        """
        return self._one.identity

    @property
    def decoding(self) -> Decoding:
        """How replies are drawn where a request does not say otherwise."""
        return self._one.decoding

    @property
    def peak_memory(self) -> int | None:
        """Bytes on the fullest device during the last stream, weights included; CUDA only."""
        return self._peak_memory

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """Answer requests, longest first, on all replicas; yields position and reply.

        Closing the iterator early ends the replicas.

        Raises:
            ModelError: If Ray is not there, no replica finds room, or the checkpoint on a node is
                another one or does not load.
        """
        job = self._one.job
        needs = {"gpu": self._spec.gpus, **self._spec.needs}
        self._replicas = self._replicas or Replicas(job, self._spec.replicas, needs)
        self._replicas.start()
        chunks = Chunks(job.spec, requests, self._replicas)
        try:
            yield from self._one.shown.noted(requests, chunks.replies())
        finally:
            self._peak_memory = chunks.peak_memory
            if chunks.is_under_way:
                self.close()

    def close(self) -> None:
        """End the replicas; a later request starts them again."""
        if self._replicas:
            self._replicas.end()
