"""Worker port: processes or Ray actors that hold one model each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, TypeAlias

from bench_assets.core.schema.chat import Request, Response
from bench_assets.core.schema.errors import ModelError
from resources.checkpoints.identity import Checkpoint
from resources.config.sections.local_models import LocalSpec
from resources.models.workers.batching import Batches
from resources.models.workers.local_model import Answers
from resources.models.workers.pinned_weights import load_named
from resources.response_cache.engine import ReadImage

Load: TypeAlias = Callable[[Any, Checkpoint], Answers]  # a spec of the kind that it loads
Chunk: TypeAlias = dict[int, Request]  # by position among all that is asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a worker needs to know; all of it can be pickled."""

    spec: LocalSpec
    checkpoint: Checkpoint
    read_image: ReadImage
    load: Load
    rest: Mapping[str, Any]  # what a card recommends beside the temperature

    def on(self, device: str) -> Self:
        """The same on a certain device, where the kind of model has a say in that."""
        return replace(self, spec=self.spec.model_copy(update={"device": device}))

    def batches(self) -> Batches:
        """What asks the model; it is loaded at the first request, if it is what was pinned."""
        return Batches(
            self.spec,
            self.read_image,
            lambda: load_named(self.load, self.spec, self.checkpoint),
            self.rest,
        )


@dataclass(frozen=True, slots=True)
class Done:
    """A whole chunk has been answered."""

    peak_memory: int | None  # bytes


@dataclass(frozen=True, slots=True)
class WorkerDied:
    """A worker is no more; what it had not answered is lost."""

    why: str


Said: TypeAlias = tuple[int, Response] | Done | ModelError


class Worker(Protocol):
    """One of them; its own key in dictionaries."""

    def ask(self, chunk: Chunk) -> None:
        """Hand over a chunk; only to one that is free."""
        ...


class Workers(Protocol):
    """All of them."""

    @property
    def most_deaths(self) -> int:
        """How many may die over a request before nobody is asked it again."""
        ...

    @property
    def n_alive(self) -> int:
        """Those that can be asked now, or will be able to."""
        ...

    def start(self) -> None:
        """Start those that are missing.

        Raises:
            ModelError: If that cannot be.
        """
        ...

    def free(self) -> Sequence[Worker]:
        """Those that can be handed a chunk now."""
        ...

    def hear(self) -> Iterator[tuple[Worker, Said | WorkerDied]]:
        """Wait until there is something to hear, or somebody new is free.

        Raises:
            ModelError: If nobody will ever be.
        """
        ...

    def end(self) -> None:
        """End them, whatever they are doing."""
        ...
