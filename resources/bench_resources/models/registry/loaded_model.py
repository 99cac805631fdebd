"""Facts about a loaded checkpoint."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from PIL import Image as PILImage

from bench_assets.core.reading.reasoning import ANSWERS, THOUGHTS
from bench_assets.core.schema.chat import Response
from bench_resources.checkpoints.identity import Checkpoint
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.models.transformers.model import TransformersModel
from bench_resources.models.transformers.prompt_tensors import PromptBatch
from bench_resources.models.workers.local_model import Draw, Message

Load: TypeAlias = Callable[[TransformersSpec, Checkpoint], TransformersModel]

_MOST_TOKENS = 8  # control tokens in one probe


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedCheckpoint:
    """A checkpoint in memory."""

    class_name: str
    dtype: str
    device: str
    parameters: int
    memory: int  # bytes of the weights
    context: int | None  # tokens of prompt and response together; None if unknown
    chat_template: str  # "own", "plain", or the file
    thinking: tuple[str, ...]  # opening tags in the template or the vocabulary


class CheckpointInspection:
    """Loads a checkpoint as the engine does, and keeps it for inspection."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._model: TransformersModel | None = None
        self.seconds = 0.0
        self.refused = False
        """Whether the last conversation failed in its template or processor, before generation."""

    def load(self, spec: TransformersSpec, checkpoint: Checkpoint) -> "CheckpointInspection":
        """Load the checkpoint; returns a wrapper that answers as the loaded model.

        Raises:
            ModelError: If it does not load.
        """
        start = time.perf_counter()
        self._model = self._load(spec, checkpoint)
        self.seconds = time.perf_counter() - start
        return self

    def weight(self, images: Sequence[PILImage.Image]) -> int:
        """Tokens of images."""
        return self._loaded_model.weight(images)

    def prepare(self, conversations: Sequence[Sequence[Message]]) -> PromptBatch:
        """Make the tensors of a batch."""
        self.refused = True
        prepared = self._loaded_model.prepare(conversations)
        self.refused = False
        return prepared

    def answer(self, prepared: PromptBatch, draw: Draw) -> list[Response]:
        """Generate the next turn of each conversation."""
        return self._loaded_model.answer(prepared, draw)

    @property
    def control_tokens(self) -> list[str]:
        """The checkpoint's first special tokens."""
        return self._tokenizer.all_special_tokens[:_MOST_TOKENS]  # type: ignore[no-any-return]

    def described(self, spec: TransformersSpec) -> LoadedCheckpoint:
        """Describe the loaded checkpoint."""
        weights = self._loaded_model.weights
        return LoadedCheckpoint(
            class_name=type(weights).__name__,
            dtype=str(weights.dtype).removeprefix("torch."),
            device=str(weights.device),
            parameters=weights.num_parameters(),
            memory=weights.get_memory_footprint(),
            context=self._loaded_model.context,
            chat_template=Path(spec.chat_template).name or "own",
            thinking=_thinking_marks(self._loaded_model.processor, self._tokenizer, spec),
        )

    @property
    def _loaded_model(self) -> TransformersModel:
        if self._model is None:
            raise RuntimeError("no request yet, so no model is loaded")
        return self._model

    @property
    def _tokenizer(self) -> Any:  # noqa: ANN401 - of any family
        processor = self._loaded_model.processor
        return getattr(processor, "tokenizer", processor)


def _thinking_marks(processor: Any, tokenizer: Any, spec: TransformersSpec) -> tuple[str, ...]:  # noqa: ANN401
    if spec.thinking_tags:
        return (spec.thinking_tags[0],)
    known = [str(processor.chat_template), *map(str, tokenizer.added_tokens_decoder.values())]
    marks = [form.opening for form in (*THOUGHTS, *ANSWERS) if form.opened_by != "words"]
    return tuple(mark for mark in dict.fromkeys(marks) if any(mark in text for text in known))
