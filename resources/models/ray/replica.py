"""What runs on a node of the cluster: one model, asked chunk by chunk."""

import queue
import sys
import threading
from collections.abc import Iterator

from bench_assets.core.schema.errors import ModelError
from resources.models.workers.device_worker import answered
from resources.models.workers.port import Chunk, Done, Job, Said, WorkerDied

_MOST_AT_ONCE = 64  # responses in one object of Ray's, of those that came together


class Replica:
    """An actor; the weights are loaded with the first chunk, and stay."""

    def __init__(self, job: Job) -> None:
        self._batches = job.batches()
        self._device = str(getattr(job.spec, "device", ""))

    def where(self) -> str:
        """Address of its node."""
        import ray

        return str(ray.util.get_node_ip_address())

    def answer(self, chunk: Chunk) -> Iterator[list[Said | WorkerDied]]:
        """Answer a chunk; what comes together is sent together, and nothing waits for the next."""
        came: queue.SimpleQueue[Said | WorkerDied] = queue.SimpleQueue()
        threading.Thread(target=self._answer, args=(chunk, came), daemon=True).start()
        while True:
            said = [came.get()]
            while not _is_last(said[-1]) and len(said) < _MOST_AT_ONCE and not came.empty():
                said.append(came.get())
            yield said
            if _is_last(said[-1]):
                return

    def _answer(self, chunk: Chunk, came: "queue.SimpleQueue[Said | WorkerDied]") -> None:
        try:
            for said in answered(chunk, self._batches, self._device):
                came.put(said)
        finally:  # as of a process that ends: with a traceback, in the log of its node
            why = sys.exception()
            came.put(WorkerDied(f"{type(why).__name__}: {why}"))  # after an end nobody hears it


def _is_last(said: Said | WorkerDied) -> bool:
    return isinstance(said, Done | WorkerDied | ModelError)
