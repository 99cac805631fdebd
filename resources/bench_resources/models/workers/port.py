"""Models whose weight files are verified while they answer."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from PIL import Image as PILImage

from bench_assets.core.schema.chat import Response
from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.content_checksums import (
    require_unchanged,
    take_checksum,
    verify_loaded,
)
from bench_resources.checkpoints.files import content_digest
from bench_resources.checkpoints.identity import Checkpoint
from bench_resources.config.sections.local_models import PLAIN_TEMPLATE, TransformersSpec
from bench_resources.models.workers.local_model import Draw, LoadedModel, Message

Load: TypeAlias = Callable[[TransformersSpec, Checkpoint], LoadedModel]


def load_pinned(load: Load, spec: TransformersSpec, checkpoint: Checkpoint) -> LoadedModel:
    """Load a checkpoint whose files still have the digested content.

    Raises:
        ModelError: If a file changed before or during loading, or the model does not load.
    """
    with require_unchanged(checkpoint.checksums):
        model = load(spec, checkpoint)
    return _PinnedModel(model, checkpoint)


def with_template(spec: TransformersSpec, checkpoint: Checkpoint) -> Checkpoint:
    """Add a separate chat template file to the checksums of a checkpoint.

    Raises:
        ModelError: If it cannot be read.
    """
    if spec.chat_template in ("", PLAIN_TEMPLATE):
        return checkpoint
    file = Path(spec.chat_template).expanduser()
    try:
        checksum = take_checksum(lambda: [file], content_digest)
    except OSError as error:
        raise ModelError(f"chat_template {file}: cannot be read: {error.strerror}") from error
    return replace(checkpoint, checksums=(*checkpoint.checksums, checksum))


class _PinnedModel:
    """A loaded model that verifies its weight files after each batch.

    safetensors maps files into memory: overwriting one changes the running model, truncating one
    kills the process (SIGBUS; cached responses are kept).
    """

    def __init__(self, model: LoadedModel, checkpoint: Checkpoint) -> None:
        self._model = model
        self._checksums = list(checkpoint.checksums)

    def count_image_tokens(self, images: Sequence[PILImage.Image]) -> int:
        return self._model.count_image_tokens(images)

    def prepare(self, conversations: Sequence[Sequence[Message]]) -> Any:  # noqa: ANN401 - its own
        return self._model.prepare(conversations)

    def answer(self, prepared: Any, draw: Draw) -> list[Response]:  # noqa: ANN401 - from prepare
        """Generate the next turn of each conversation."""
        responses = self._model.answer(prepared, draw)
        self._checksums = verify_loaded(self._checksums)
        return responses
