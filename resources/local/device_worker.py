"""One process of a data-parallel engine: a checkpoint on one device, asked through a pipe."""

import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, TypeAlias

from bench_assets.core.chat import Reply, Request
from bench_assets.core.errors import ModelError
from resources.checkpoints.identity import Checkpoint
from resources.local import device_memory
from resources.local.answers import Answers
from resources.local.batches import Batches
from resources.local.named_weights import load_named
from resources.replies.engine import ReadImage
from resources.settings.local_specs import TransformersSpec

Load: TypeAlias = Callable[[TransformersSpec, Checkpoint], Answers]
Chunk: TypeAlias = dict[int, Request]  # by position among all that is asked


@dataclass(frozen=True, slots=True)
class Done:
    """A whole chunk has been answered."""

    peak_memory: int | None  # bytes


Said: TypeAlias = tuple[int, Reply] | Done | ModelError


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a process needs to know; all of it can be pickled."""

    spec: TransformersSpec  # of one device
    checkpoint: Checkpoint
    read_image: ReadImage
    load: Load
    n_processes: int
    rest: Mapping[str, Any]  # what a card recommends beside the temperature


def work(job: Job, pipe: "Connection[Said, Chunk]") -> None:
    """Answer chunk after chunk, each reply as it arrives, until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the other end, which then hangs up
    batches = Batches(job.spec, job.read_image, lambda: _load(job), job.rest)
    try:
        while True:
            _answer(pipe.recv(), batches, job.spec.device, pipe)
    except (EOFError, BrokenPipeError):
        return


def _answer(chunk: Chunk, batches: Batches, device: str, pipe: "Connection[Said, Chunk]") -> None:
    positions = list(chunk)
    device_memory.start_counting(device)
    try:
        for i, reply in batches.stream(list(chunk.values())):
            pipe.send((positions[i], reply))
    except ModelError as why:
        pipe.send(why)
    else:
        pipe.send(Done(device_memory.most_held(device)))


def _load(job: Job) -> Answers:
    import torch

    # Processes with as many threads each as there are cores wait for one another.
    torch.set_num_threads(max(1, torch.get_num_threads() // job.n_processes))
    return load_named(job.load, job.spec, job.checkpoint)
