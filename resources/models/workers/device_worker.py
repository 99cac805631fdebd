"""One process of a data-parallel engine: a checkpoint on one device, asked through a pipe."""

import signal
from collections.abc import Iterator
from multiprocessing.connection import Connection

from bench_assets.core.schema.errors import ModelError
from resources.models.workers import device_memory
from resources.models.workers.batching import Batches
from resources.models.workers.port import Chunk, Done, Job, Said


def work(job: Job, device: str, n_processes: int, pipe: "Connection[Said, Chunk]") -> None:
    """Answer chunk after chunk, each response as it arrives, until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the other end, which then hangs up
    _share_cores(n_processes)
    batches = job.batches()
    try:
        while True:
            for said in answered(pipe.recv(), batches, device):
                pipe.send(said)
    except (EOFError, BrokenPipeError):
        return


def answered(chunk: Chunk, batches: Batches, device: str) -> Iterator[Said]:
    """Answer a chunk, each response as it arrives.

    Then that it is done, or why nothing can be asked.

    ``device`` is the one whose memory is counted; "": none.
    """
    positions = list(chunk)
    device_memory.start_counting(device)
    try:
        for i, response in batches.stream(list(chunk.values())):
            yield positions[i], response
    except ModelError as why:
        yield why
    else:
        yield Done(device_memory.most_held(device))


def _share_cores(n_processes: int) -> None:
    import torch

    # Processes with as many threads each as there are cores wait for one another.
    torch.set_num_threads(max(1, torch.get_num_threads() // n_processes))
