"""Engine of a Hugging Face checkpoint."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeAlias, cast

from bench_assets.core.schema.chat import Request, Response
from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.content_checksums import (
    ContentChecksum,
    require_unchanged,
    take_checksum,
    verify_loaded,
)
from bench_resources.checkpoints.identity import Checkpoint, pin
from bench_resources.config.environment import expand_user
from bench_resources.config.sections.local_models import PLAIN_TEMPLATE, TransformersSpec
from bench_resources.models.transformers.batch_trial import ALONE, BatchTrials
from bench_resources.models.transformers.image_digests import ImageDigests
from bench_resources.models.transformers.loading import device_of, dtype_of
from bench_resources.models.transformers.model import TransformersModel, load
from bench_resources.models.workers.batching import Batches
from bench_resources.models.workers.local_model import (
    LoadedModel,
    free_memory,
    peak_memory,
    reset_peak_memory,
)
from bench_resources.response_cache.engine import ReadImage

Load: TypeAlias = Callable[[TransformersSpec, Checkpoint], LoadedModel]


class TransformersEngine:
    """Runs a checkpoint on CUDA, MPS or the CPU; it is loaded at the first request.

    In float32 on the CPU a response does not depend on its batch; in half precision and on GPUs,
    sums round differently in different batches, and a near-tie may fall the other way. Sampled
    responses depend only on seed, prompt and sample number.
    """

    elicits = frozenset({"likelihood", "constrained"})

    def __init__(
        self,
        spec: TransformersSpec,
        location: str,
        read_image: ReadImage,
        load: Load = load,
        *,
        digests: ImageDigests | None = None,
        trials: BatchTrials | None = None,
    ) -> None:
        """Store the configuration; ``location`` is a folder or a hub id.

        Without ``digests``, image preprocessing is not part of the identity; without ``trials``,
        requests are batched without a trial.
        """
        self._spec = spec
        self._location = location
        self._read_image = read_image
        self._load = load
        self._digests = digests
        self._trials = trials
        self._trial_models: list[LoadedModel] = []  # that of a trial, until the first request
        self._checksums: Sequence[ContentChecksum] = ()  # of the loaded files
        self.identity = ""  # until it is prepared
        self.decoding = spec.decoding
        self.peak_memory: int | None = None  # bytes of tensors, with the weights; CUDA only

    def prepare(self) -> None:
        """Find the identity: content, precision, and settings that change responses.

        Loads the weights unless their batch trial is cached.

        Raises:
            ModelError: If the checkpoint is missing or incomplete, its processor or weights do not
                load, or it cannot process an image.
        """
        if self.identity:
            return
        parts = [self.checkpoint.content, dtype_of(self._spec)]
        parts += self._spec.identity_parts
        if self._digests and not self._spec.text_only:
            parts.append(f"images={self._digests.digest(self._spec, self.checkpoint)}")
        if self._has_batch_effects:
            parts.append("alone")
        if self._spec.attention != "auto":
            parts.append(self._spec.attention)
        self.identity = ",".join(parts)

    @cached_property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint, pinned to its content."""
        spec = self._spec
        pinned = pin(
            self._location, spec.revision, spec.gguf_file, processor=spec.processor, base=spec.base
        )
        return _with_template(spec, pinned)

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Yield position and response, batch by batch.

        The loaded files are verified before a response is yielded. safetensors maps them into
        memory: overwriting one changes the model, truncating one kills the process (SIGBUS).

        Raises:
            ModelError: If the model does not load, or one of its files has changed.
        """
        device = device_of(self._spec.device)
        reset_peak_memory(device)
        for arrival in self._batches.stream(requests):
            self._checksums = verify_loaded(self._checksums)
            yield arrival
        self.peak_memory = peak_memory(device)

    def close(self) -> None:
        """Free the memory; a later request loads the weights again."""
        if self._trial_models:
            self._trial_models.clear()
            free_memory()
        if batches := vars(self).get("_batches"):  # else a broken checkpoint would be read here
            batches.close()

    @cached_property
    def _batches(self) -> Batches:
        spec = self._spec.model_copy(update={"batch_size": 1} if self._has_batch_effects else {})
        return Batches(spec, self._read_image, self._load_unchanged)

    @cached_property
    def _has_batch_effects(self) -> bool:
        """Whether a response would depend on the rest of its batch."""
        spec, trials = self._spec, self._trials
        if trials is None:
            return False
        return trials.result(spec, self.checkpoint, self._load_for_trial) == ALONE

    def _load_for_trial(self) -> TransformersModel:
        """Load the model for a trial, and keep it for the first request."""
        model = self._load_unchanged()
        self._trial_models = [model]
        return cast("TransformersModel", model)

    def _load_unchanged(self) -> LoadedModel:
        """Take the model of the trial, or load it, if its files are those that were digested."""
        spec, checkpoint = self._spec, self.checkpoint
        with require_unchanged(checkpoint.checksums):
            model = self._trial_models.pop() if self._trial_models else self._load(spec, checkpoint)
        self._checksums = checkpoint.checksums
        return model


def _with_template(spec: TransformersSpec, checkpoint: Checkpoint) -> Checkpoint:
    """Add a separate chat template file to the checksums of a checkpoint."""
    if spec.chat_template in ("", PLAIN_TEMPLATE):
        return checkpoint
    file = expand_user(spec.chat_template)
    try:
        checksum = take_checksum(lambda: [file])
    except OSError as error:
        raise ModelError(f"chat_template {file}: cannot be read: {error.strerror}") from error
    return replace(checkpoint, checksums=(*checkpoint.checksums, checksum))
