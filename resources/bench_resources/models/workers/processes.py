"""Workers on this machine: one process per device."""

import signal
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait

from bench_assets.core.schema.errors import ModelError
from bench_resources.models.workers.batching import Batches
from bench_resources.models.workers.local_model import (
    peak_memory,
    reset_peak_memory,
)
from bench_resources.models.workers.port import Chunk, ChunkDone, Job, WorkerDied, WorkerMessage


def run_worker(
    job: Job, device: str, n_processes: int, pipe: "Connection[WorkerMessage, Chunk]"
) -> None:
    """Answer chunks from a pipe until its other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C, and closes the pipe
    _share_cores(n_processes)
    batches = job.batches()
    try:
        while True:
            for message in answer_chunk(pipe.recv(), batches, device):
                pipe.send(message)
    except (EOFError, BrokenPipeError):
        return


def answer_chunk(chunk: Chunk, batches: Batches, device: str) -> Iterator[WorkerMessage]:
    """Answer a chunk: yields responses, then ``Done`` or the reason why nothing can be answered."""
    positions = list(chunk)
    reset_peak_memory(device)
    try:
        for i, response in batches.stream(list(chunk.values())):
            yield positions[i], response
    except ModelError as error:
        yield error
    else:
        yield ChunkDone(peak_memory(device))


def _share_cores(n_processes: int) -> None:
    import torch

    # Processes with one thread per core each would wait for one another.
    torch.set_num_threads(max(1, torch.get_num_threads() // n_processes))


_KILL_TIMEOUT = 10.0  # s within which a process has to end


class WorkerProcesses:
    """Spawned processes; dead ones are restarted with the next stream."""

    def __init__(self, jobs: Sequence[tuple[str, Job]]) -> None:
        """Store the jobs by device."""
        self._jobs = jobs
        self._workers: list[WorkerProcess] = []

    @property
    def n_alive(self) -> int:
        """Processes not known to be dead."""
        return len(self._workers)

    def start(self) -> None:
        """Start the missing processes."""
        for worker in [worker for worker in self._workers if not worker.is_alive]:
            self._workers.remove(worker)
            worker.end()
        alive = {worker.number for worker in self._workers}
        for number, (device, job) in enumerate(self._jobs):
            if number not in alive:
                self._workers.append(WorkerProcess(number, device, job, len(self._jobs)))

    def free(self) -> "list[WorkerProcess]":
        """Processes without a chunk."""
        return [worker for worker in self._workers if not worker.busy]

    def receive(self) -> "Iterator[tuple[WorkerProcess, WorkerMessage | WorkerDied]]":
        """Wait for a message or the end of a busy process."""
        busy = [worker for worker in self._workers if worker.busy]
        ready = wait([worker.pipe for worker in busy])
        for worker in busy:
            if worker.pipe in ready:
                message = worker.receive()
                if isinstance(message, WorkerDied):
                    self._workers.remove(worker)
                    worker.end()
                yield worker, message

    def end(self) -> None:
        """Stop the processes."""
        while self._workers:
            self._workers.pop().end()


class WorkerProcess:
    """Handle of a process."""

    def __init__(self, number: int, device: str, job: Job, n_processes: int) -> None:
        spawn = get_context("spawn")  # a fork would inherit the locks of our threads, and CUDA
        child_pipe: Connection[WorkerMessage, Chunk]
        self.pipe, child_pipe = spawn.Pipe()
        self.number = number
        self.busy = False
        self._device = device
        arguments = (job, device, n_processes, child_pipe)
        self._process = spawn.Process(target=run_worker, args=arguments, daemon=True)
        self._process.start()
        child_pipe.close()  # so that the pipe closes when the process ends

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.is_alive()

    def ask(self, chunk: Chunk) -> None:
        """Send a chunk to a free process."""
        self.busy = True
        with suppress(OSError):  # it has died, which the next receive reports
            self.pipe.send(chunk)

    def receive(self) -> WorkerMessage | WorkerDied:
        """Wait for a message, or for the end of the process."""
        try:
            message: WorkerMessage = self.pipe.recv()
        except (EOFError, OSError):
            self._process.join(_KILL_TIMEOUT)  # sets exitcode, minus the signal if one killed it
            return WorkerDied(
                f"the process on {self._device} ended with code {self._process.exitcode}"
            )
        self.busy = not isinstance(message, ChunkDone)
        return message

    def end(self) -> None:
        """Stop the process."""
        self.pipe.close()
        self._process.terminate()
        self._process.join(_KILL_TIMEOUT)
        self._process.kill()
        self._process.join()
