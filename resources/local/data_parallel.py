"""Several devices, a process with all the weights on each; requests go to whichever is free."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any

from bench_assets.core.chat import Decoding, Reply, Request
from bench_assets.core.errors import ModelError
from resources.local.asking_order import as_asked, in_order
from resources.local.card_decoding import Card, as_recommended, card_of
from resources.local.device_worker import Chunk, Done, Job, Load, Said, work
from resources.local.engine import TransformersEngine
from resources.local.loading import dtype_of
from resources.local.model import load
from resources.local.picture_digests import PictureDigests
from resources.replies.engine import ReadImage
from resources.settings.local_specs import TransformersSpec

_BATCHES_A_CHUNK = 8  # at most: pictures are read ahead only within a chunk
_CHUNKS_A_DEVICE = 4  # of what is left, so that all devices finish at about the same time
_UNTIL_KILLED = 10.0  # s that a process has to end in


class DataParallelEngine:
    """Runs one checkpoint on several devices at once; processes start at the first request.

    A process that dies costs nothing but time: what it had not answered yet is asked once more, on
    another device, after everything else. Only what two processes died of, or what no process is
    left for, comes back with ``error``; the next stream starts the dead ones again.

    The identity is that of one device. A device changes nothing but with whom a request shares a
    batch, which no identity names: in float32 on the CPU replies are the same to the letter, in
    half precision and on GPUs they are as alike as those of two batch sizes. GPUs of different
    models round differently besides; keep to one model where that matters.
    """

    def __init__(
        self,
        spec: TransformersSpec,
        location: str,
        read_image: ReadImage,
        load: Load = load,
        *,
        digests: PictureDigests | None = None,
    ) -> None:
        """Prepare to load ``location``; ``read_image`` and ``load`` are sent to the processes.

        ``digests`` is for the identity, as with one device.

        Raises:
            ModelError: If all devices are to be used, and there is none.
        """
        devices = _devices(spec)
        one = spec.model_copy(update={"devices": (), "device": devices[0]})
        # Chosen once, as part of the identity.
        one = one.model_copy(update={"dtype": dtype_of(one)})
        self._specs = [one.model_copy(update={"device": device}) for device in devices]
        self._one = TransformersEngine(one, location, read_image, digests=digests)
        self.particulars = self._one.particulars
        self._read_image = read_image
        self._load = load
        self._workers: list[_Worker] = []
        self._peak_memory: int | None = None

    @property
    def identity(self) -> str:
        """That of the checkpoint on one device.

        Raises:
            ModelError: If there is no such checkpoint or it is incomplete.
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
        """Answer requests, longest first, on all devices; yields position and reply.

        Closing the iterator early ends the processes.

        Raises:
            ModelError: If the checkpoint does not load whole, or its card cannot be followed.
        """
        self._start()
        spec, _ = self._recommended(self._specs[0])
        asking = _Asking(spec, requests, self._workers)
        try:
            yield from self._one.shown.noted(requests, asking.replies())
        finally:
            self._peak_memory = asking.peak_memory
            if any(worker.busy for worker in self._workers):
                self.close()

    def close(self) -> None:
        """End the processes; a later request starts them again."""
        while self._workers:
            self._workers.pop().end()

    def _start(self) -> None:
        for worker in [worker for worker in self._workers if not worker.is_alive]:
            self._workers.remove(worker)
            worker.end()
        alive = {worker.number for worker in self._workers}
        for number, written in enumerate(self._specs):
            if number not in alive:
                spec, rest = self._recommended(written)
                job = Job(
                    spec=spec,
                    checkpoint=self._one.checkpoint,
                    read_image=self._read_image,
                    load=self._load,
                    n_processes=len(self._specs),
                    rest=rest,
                )
                self._workers.append(_Worker(number, job))

    def _recommended(self, spec: TransformersSpec) -> tuple[TransformersSpec, Mapping[str, Any]]:
        return as_recommended(spec, self._card)

    @cached_property
    def _card(self) -> Card | None:
        return card_of(self._specs[0], self._one.checkpoint)


class _Worker:
    """This end of a process: what it was asked and has not answered yet."""

    def __init__(self, number: int, job: Job) -> None:
        spawn = get_context("spawn")  # a fork would inherit the locks of our threads, and CUDA
        theirs: Connection[Said, Chunk]
        self.pipe, theirs = spawn.Pipe()
        self.number = number
        self.device = job.spec.device
        self.asked: Chunk = {}
        self.busy = False
        self._process = spawn.Process(target=work, args=(job, theirs), daemon=True)
        self._process.start()
        theirs.close()  # so that its end is heard here

    @property
    def is_alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.is_alive()

    def ask(self, chunk: Chunk) -> None:
        """Hand over a chunk."""
        self.asked, self.busy = chunk, True
        with suppress(OSError):  # it has died; whoever listens next will hear that
            self.pipe.send(chunk)

    def exit_code(self) -> int | None:
        """Wait for a process that hung up; minus the signal if one killed it."""
        self._process.join(_UNTIL_KILLED)
        return self._process.exitcode

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self.pipe.close()
        self._process.terminate()
        self._process.join(_UNTIL_KILLED)
        self._process.kill()
        self._process.join()


class _Asking:
    """One stream: what still waits, and whose process has died once."""

    def __init__(
        self, spec: TransformersSpec, requests: Sequence[Request], workers: list[_Worker]
    ) -> None:
        # Engines never look at the question, and it need not travel.
        self._asked = [replace(as_asked(r, spec), question=None) for r in requests]
        self._waiting = deque(in_order(self._asked))
        self._batch_size = spec.batch_size
        self._workers = workers
        self._orphaned: set[int] = set()
        self._why = ""
        self.peak_memory: int | None = None

    def replies(self) -> Iterator[tuple[int, Reply]]:
        """Hand out chunks and listen, until everything is answered or no process is left."""
        while self._waiting or any(worker.busy for worker in self._workers):
            self._hand_out()
            busy = [worker for worker in self._workers if worker.busy]
            heard = wait([worker.pipe for worker in busy])
            for worker in busy:
                if worker.pipe in heard:
                    yield from self._hear(worker)
            if not self._workers:
                error = f"{self._why}, the last there was"
                yield from ((i, Reply(error=error)) for i in self._waiting)
                return

    def _hand_out(self) -> None:
        for worker in self._workers:
            if self._waiting and not worker.busy:
                share = len(self._waiting) // (_CHUNKS_A_DEVICE * len(self._workers))
                n = max(self._batch_size, min(share, _BATCHES_A_CHUNK * self._batch_size))
                positions = [self._waiting.popleft() for _ in range(min(n, len(self._waiting)))]
                worker.ask({i: self._asked[i] for i in positions})

    def _hear(self, worker: _Worker) -> Iterator[tuple[int, Reply]]:
        try:
            said = worker.pipe.recv()
        except (EOFError, OSError):
            yield from self._bury(worker)
            return
        if isinstance(said, ModelError):
            raise said
        if isinstance(said, Done):
            worker.busy = False
            self.peak_memory = max(self.peak_memory or 0, said.peak_memory or 0) or None
            return
        del worker.asked[said[0]]
        yield said

    def _bury(self, worker: _Worker) -> Iterator[tuple[int, Reply]]:
        """Let another process ask what this one leaves behind, unless that is the second time."""
        self._workers.remove(worker)
        self._why = f"the process on {worker.device} ended with code {worker.exit_code()}"
        worker.end()
        for i in worker.asked:
            if i in self._orphaned:
                yield i, Reply(error=f"{self._why}, and one before it over the same requests")
            else:
                self._orphaned.add(i)
                self._waiting.append(i)


def _devices(spec: TransformersSpec) -> list[str]:
    if spec.devices != "all":
        return list(spec.devices)
    import torch

    if not (n := torch.cuda.device_count()):
        raise ModelError(f"{spec.path}: devices are all those of CUDA, and there is none")
    return [f"cuda:{number}" for number in range(n)]
