"""Loads a checkpoint, and verifies its identity while it answers."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from PIL import Image as PILImage

from bench_assets.core.schema.chat import Response
from bench_assets.core.schema.errors import ModelError
from resources.checkpoints.content_checksums import require_unchanged, still_loaded, take_checksum
from resources.checkpoints.files import content_digest
from resources.checkpoints.identity import Checkpoint
from resources.config.sections.local_models import PLAIN_TEMPLATE, LocalSpec
from resources.models.workers.conversations import Message
from resources.models.workers.local_model import Answers, Draw

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
