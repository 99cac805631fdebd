"""Replicas of one model on a Ray cluster, each with all the weights."""

import logging
import queue
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from bench_assets.core.schema.errors import ModelError
from bench_resources.cluster.ray_cluster import connect, unfit_cluster_reason
from bench_resources.cluster.run_needs import ray_options
from bench_resources.config.sections.local_models import LocalSpec
from bench_resources.models.workers.pool import LocalEngine, WorkerPoolEngine
from bench_resources.models.workers.port import Chunk, ChunkDone, Job, WorkerDied, WorkerMessage
from bench_resources.models.workers.processes import answer_chunk

_MOST_AT_ONCE = 64  # responses in one Ray object


class Replica:
    """An actor; the weights are loaded with the first chunk, and stay."""

    def __init__(self, job: Job) -> None:
        self._batches = job.batches()
        self._device = str(getattr(job.spec, "device", ""))

    def where(self) -> str:
        """Address of its node."""
        import ray

        return str(ray.util.get_node_ip_address())

    def answer(self, chunk: Chunk) -> Iterator[list[WorkerMessage | WorkerDied]]:
        """Answer a chunk; available responses are sent together, without waiting for more."""
        incoming: queue.SimpleQueue[WorkerMessage | WorkerDied] = queue.SimpleQueue()
        threading.Thread(target=self._answer, args=(chunk, incoming), daemon=True).start()
        while True:
            messages = [incoming.get()]
            while (
                not _is_last(messages[-1])
                and len(messages) < _MOST_AT_ONCE
                and not incoming.empty()
            ):
                messages.append(incoming.get())
            yield messages
            if _is_last(messages[-1]):
                return

    def _answer(
        self, chunk: Chunk, incoming: "queue.SimpleQueue[WorkerMessage | WorkerDied]"
    ) -> None:
        try:
            for message in answer_chunk(chunk, self._batches, self._device):
                incoming.put(message)
        finally:  # also after an exception, whose traceback is in the log of the node
            why = sys.exception()
            incoming.put(
                WorkerDied(f"{type(why).__name__}: {why}")
            )  # ignored after the last message


def _is_last(said: WorkerMessage | WorkerDied) -> bool:
    return isinstance(said, ChunkDone | WorkerDied | ModelError)


_LOG = logging.getLogger("bench_assets.ray")

_START_TIMEOUT = 600.0  # s to wait for a first replica: its resources may be in use
_CHECK_INTERVAL = 60.0  # s between two checks whether a replica can start
_ACTOR_ERRORS = ("RayActorError", "ActorDiedError", "ActorUnavailableError")


class RayReplicas:
    """Actors; dead ones are replaced, at most ``n_replicas`` times per stream."""

    most_deaths = 3

    def __init__(self, job: Job, n_replicas: int, needs: dict[str, float]) -> None:
        """Store the job and the resources of one replica."""
        self._job = job
        self._n = n_replicas
        self._needs = needs
        self._actors: list[_Actor] = []
        self._spare = 0
        self._since = 0.0  # s on the monotonic clock, since when no replica is up

    @property
    def n_alive(self) -> int:
        """Actors that run or start."""
        return len(self._actors)

    def start(self) -> None:
        """Start the missing actors."""
        connect()
        self._spare = self._n
        while len(self._actors) < self._n:
            self._add()
        self._since = time.monotonic()

    def free(self) -> "list[_Actor]":
        """Running actors without a chunk."""
        return [actor for actor in self._actors if actor.is_up and not actor.answers]

    def receive(self) -> "Iterator[tuple[_Actor, WorkerMessage | WorkerDied]]":
        """Wait for a message, or for an actor to start."""
        import ray

        waiting = {actor.answers or actor.coming: actor for actor in self._actors}
        waiting.pop(None, None)
        ready, _ = ray.wait(list(waiting), num_returns=1, timeout=_CHECK_INTERVAL)
        if not ready:
            self._require_capacity()
        for one in ready:
            actor = waiting[one]
            for message in actor.receive():
                if isinstance(message, WorkerDied):
                    self._handle_death(actor, message)
                yield actor, message

    def end(self) -> None:
        """Stop the actors."""
        while self._actors:
            self._actors.pop().end()

    def _add(self) -> None:
        self._actors.append(_Actor(self._job, self._needs))

    def _handle_death(self, actor: "_Actor", died: WorkerDied) -> None:
        """Replace an actor; one that is merely unreachable is killed."""
        self._actors.remove(actor)
        actor.end()
        _LOG.warning("%s; its open requests go to another replica", died.why)
        if self._spare:
            self._spare -= 1
            self._add()

    def _require_capacity(self) -> None:
        """Fail when no actor could start in ten minutes, or none ever can."""
        if any(actor.is_up for actor in self._actors):
            self._since = time.monotonic()
            return
        waited = time.monotonic() - self._since
        why = unfit_cluster_reason(self._needs)
        if why or waited > _START_TIMEOUT:
            self.end()
            raise ModelError(
                f"{self._job.spec.place}: no replica could start on the Ray cluster in"
                f" {waited:.0f} s: {why or 'its resources are in use'}"
            )


class _Actor:
    """Handle of an actor."""

    def __init__(self, job: Job, needs: dict[str, float]) -> None:
        import ray

        kind = ray.remote(Replica)
        options = ray_options(needs)
        self._actor: Any = kind.options(scheduling_strategy="SPREAD", **options).remote(job)
        self.coming: Any = self._actor.where.remote()
        self.answers: Any = None  # a generator of objects, while it answers a chunk
        self._where = ""

    @property
    def is_up(self) -> bool:
        return bool(self._where)

    def ask(self, chunk: Chunk) -> None:
        self.answers = self._actor.answer.options(num_returns="streaming").remote(chunk)

    def receive(self) -> Iterator[WorkerMessage | WorkerDied]:
        """The available messages; called when Ray reports some."""
        import ray
        from ray.exceptions import RayError

        try:
            if not self.is_up:
                self._where, self.coming = ray.get(self.coming), None
                return
            messages = deque(ray.get(next(self.answers)))
        except StopIteration:
            messages = deque([WorkerDied("its stream ended")])
        except RayError as error:
            messages = deque([WorkerDied(_shorten_error(error))])
        while messages:
            yield self._heard(messages.popleft())

    def _heard(self, said: WorkerMessage | WorkerDied) -> WorkerMessage | WorkerDied:
        match said:
            case ChunkDone():
                self.answers = None
            case WorkerDied():
                return WorkerDied(f"the replica on {self._where or 'a node'} is gone: {said.why}")
            case ModelError():
                return ModelError(f"on {self._where}: {said}")
        return said

    def end(self) -> None:
        """Kill the actor, also if it is unreachable."""
        import ray
        from ray.exceptions import RayError

        with suppress(RayError, ValueError):
            ray.kill(self._actor)


def _shorten_error(why: Exception) -> str:
    """A short form of Ray's error, whose text is a page."""
    name = type(why).__name__
    return name if name in _ACTOR_ERRORS else f"{name}: {str(why).strip().splitlines()[-1]}"


class RayEngine(WorkerPoolEngine):
    """Answers requests by actors on the nodes of a Ray cluster.

    The requests of a dead node are answered on another; requests that three actors died of get
    ``error``. Every replica verifies that its node has the same checkpoint.
    """

    def __init__(self, one: LocalEngine, spec: LocalSpec) -> None:
        """Wrap an engine."""
        needs = {"gpu": spec.gpus, **spec.needs}
        super().__init__(one, lambda job: RayReplicas(job, spec.replicas, needs))
