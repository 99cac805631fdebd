"""Worker port: processes or Ray actors that hold one model each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Self, TypeAlias, TypeVar

from PIL import Image as PILImage

from bench_assets.core.schema.chat import Request, Response
from bench_assets.core.schema.errors import ModelError
from resources.checkpoints.content_checksums import require_unchanged, still_loaded, take_checksum
from resources.checkpoints.files import content_digest
from resources.checkpoints.identity import Checkpoint
from resources.config.sections.local_models import PLAIN_TEMPLATE, LocalSpec
from resources.models.workers.batching import Batches
from resources.models.workers.local_model import Answers, Draw, Message
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


Spec = TypeVar("Spec", bound=LocalSpec)


def load_named(
    load: Callable[[Spec, Checkpoint], Answers], spec: Spec, checkpoint: Checkpoint
) -> Answers:
    """Load a checkpoint whose files are those that its content was digested of.

    Raises:
        ModelError: If they are not, before or after loading, or it does not load.
    """
    with require_unchanged(checkpoint.checksums):
        model = load(spec, checkpoint)
    return _PinnedModel(model, checkpoint)


def with_template(spec: LocalSpec, checkpoint: Checkpoint) -> Checkpoint:
    """Put the checksum of a chat template that lies in a file of its own to those of a checkpoint.

    Raises:
        ModelError: If it cannot be read.
    """
    if spec.chat_template in ("", PLAIN_TEMPLATE):
        return checkpoint
    file = Path(spec.chat_template).expanduser()
    try:
        checksummed = take_checksum(partial(_alone, file), content_digest)
    except OSError as why:
        raise ModelError(f"chat_template {file}: cannot be read: {why.strerror}") from why
    return replace(checkpoint, checksums=(*checkpoint.checksums, checksummed))


def _alone(file: Path) -> list[Path]:
    return [file]


class _PinnedModel:
    """A loaded model whose weights may still be read from their files, page by page.

    safetensors maps files into memory: who writes into one changes the model that is being asked,
    and who cuts one short ends the process (SIGBUS; what was answered is kept). To read them
    instead would hold the weights twice while they load, and once more for each process.
    """

    def __init__(self, model: Answers, checkpoint: Checkpoint) -> None:
        self._model = model
        self._checksums = list(checkpoint.checksums)

    def weight(self, images: Sequence[PILImage.Image]) -> int:
        return self._model.weight(images)

    def prepare(self, conversations: Sequence[Sequence[Message]]) -> Any:  # noqa: ANN401 - its own
        return self._model.prepare(conversations)

    def answer(self, prepared: Any, draw: Draw) -> list[Response]:  # noqa: ANN401 - from prepare
        """Generate the next turn of each conversation.

        Raises:
            ModelError: If the files were overwritten; what was just said is not kept.
        """
        responses = self._model.answer(prepared, draw)
        self._checksums = still_loaded(self._checksums)
        return responses
