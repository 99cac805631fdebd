"""Engine of a Hugging Face checkpoint on one or several devices."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import cast

from bench_assets.core.schema.chat import Decoding, Request, Response
from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.content_checksums import require_unchanged
from bench_resources.checkpoints.identity import Checkpoint, pin
from bench_resources.checkpoints.torchvision_operators import require_local
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.models.transformers.batch_trial import ALONE, BatchTrials
from bench_resources.models.transformers.image_digests import ImageDigests
from bench_resources.models.transformers.loading import device_of, dtype_of
from bench_resources.models.transformers.model import TransformersModel, load
from bench_resources.models.transformers.sampling import Card, apply_card, card_of
from bench_resources.models.workers.batching import Batches
from bench_resources.models.workers.local_model import (
    Answers,
    free_memory,
    peak_memory,
    reset_peak_memory,
)
from bench_resources.models.workers.pool import ChunkScheduler
from bench_resources.models.workers.port import Job, Load, with_template
from bench_resources.models.workers.processes import WorkerProcesses
from bench_resources.response_cache.engine import ReadImage

LOCAL_METHODS = frozenset({"likelihood", "constrained"})


class TransformersEngine:
    """Runs a checkpoint on CUDA, MPS or the CPU; it is loaded at the first request.

    In float32 on the CPU a response does not depend on its batch; in half precision and on GPUs,
    sums round differently in different batches, and a near-tie may fall the other way. Sampled
    responses depend only on seed, prompt and sample number.
    """

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
        self._tried: list[Answers] = []  # the model of a trial, until the first request
        self.identity = ""  # until it is prepared
        self._peak_memory: int | None = None

    def prepare(self) -> None:
        """Find the identity: content, precision, and settings that change the prompt.

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
            parts.append(f"images={self._digests.of(self._spec, self.checkpoint)}")
        parts += ["alone"] if self._has_batch_effects else []
        parts += ["compiled"] if self._spec.compile else []
        parts += [attention] if (attention := self._spec.attention) != "auto" else []
        self.identity = ",".join(parts)

    @cached_property
    def decoding(self) -> Decoding:
        """The default decoding of a request."""
        spec = self._spec
        return self._card.decoding(spec.max_tokens, spec.seed) if self._card else spec.decoding

    @property
    def elicits(self) -> frozenset[str]:
        """Elicitation methods: likelihoods, and generation of one option."""
        return LOCAL_METHODS

    @property
    def peak_memory(self) -> int | None:
        """Peak bytes of tensors during the last stream, with the weights; CUDA only."""
        return self._peak_memory

    @cached_property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint, pinned to its content."""
        spec = self._spec
        pinned = pin(
            self._location,
            spec.revision,
            spec.gguf_file,
            processor=spec.processor,
            base=spec.base,
        )
        return with_template(spec, pinned)

    @cached_property
    def job(self) -> Job:
        """The description of the model for a worker."""
        spec, rest = apply_card(self._spec, self._card)
        return Job(
            spec=spec.model_copy(update={"batch_size": 1} if self._has_batch_effects else {}),
            checkpoint=self.checkpoint,
            read_image=self._read_image,
            load=self._load,
            rest=rest,
        )

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Yield position and response, batch by batch."""
        device = device_of(self._spec.device)
        reset_peak_memory(device)
        yield from self._batches.stream(requests)
        self._peak_memory = peak_memory(device)

    def close(self) -> None:
        """Free the memory; a later request loads the weights again."""
        if self._tried:
            self._tried.clear()
            free_memory()
        if batches := vars(self).get("_batches"):  # else a broken checkpoint would be read here
            batches.close()

    @cached_property
    def _batches(self) -> Batches:
        return replace(self.job, load=self._take_or_load).batches()

    @cached_property
    def _card(self) -> Card | None:
        return card_of(self._spec, self.checkpoint)

    @cached_property
    def _has_batch_effects(self) -> bool:
        """Whether a response would depend on the rest of its batch."""
        spec, trials = self._spec, self._trials
        if trials is None:
            return False
        return trials.of(spec, self.checkpoint, self._load_for_trial) == ALONE

    def _load_for_trial(self) -> TransformersModel:
        with require_unchanged(self.checkpoint.checksums):
            model = self._load(self._spec, self.checkpoint)
        self._tried = [model]
        return cast("TransformersModel", model)

    def _take_or_load(self, spec: TransformersSpec, checkpoint: Checkpoint) -> Answers:
        return self._tried.pop() if self._tried else self._load(spec, checkpoint)


class DataParallelEngine:
    """Runs one checkpoint on several devices, one process each, started on demand.

    Only this process writes to the cache. The requests of a process that dies are retried once on
    another device; requests that two processes died of get ``error``. Identity and decoding are
    those of one device: as with batch sizes, responses are equal in float32 on the CPU, and equal
    up to rounding on GPUs of one model.
    """

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
        """Store the configuration; ``read_image`` and ``load`` are sent to the processes.

        Raises:
            ModelError: If ``devices`` is "all" and there is none.
        """
        self._devices = _devices(spec)
        device_spec = spec.model_copy(update={"devices": (), "device": self._devices[0]})
        # Chosen once, as part of the identity.
        device_spec = device_spec.model_copy(update={"dtype": dtype_of(device_spec)})
        self._one = TransformersEngine(
            device_spec, location, read_image, load, digests=digests, trials=trials
        )
        self.identity = ""  # until it is prepared
        self._workers: WorkerProcesses | None = None
        self._peak_memory: int | None = None

    def prepare(self) -> None:
        """Find the identity, as on one device; raises as that does."""
        self._one.prepare()
        self.identity = self._one.identity

    @property
    def decoding(self) -> Decoding:
        """The default decoding of a request."""
        return self._one.decoding

    @property
    def elicits(self) -> frozenset[str]:
        """Elicitation methods: likelihoods, and generation of one option."""
        return self._one.elicits

    @property
    def peak_memory(self) -> int | None:
        """Peak bytes on the fullest device during the last stream; CUDA only."""
        return self._peak_memory

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Yield position and response, longest requests first.

        Closing the iterator early stops the processes.
        """
        job = self._one.job
        if not self._workers:
            self._one.close()  # frees the model of a trial, whose memory the first process needs
            self._workers = WorkerProcesses([(at, job.on(at)) for at in self._devices])
        self._workers.start()
        chunks = ChunkScheduler(job.spec, requests, self._workers)
        try:
            yield from chunks.responses()
        finally:
            self._peak_memory = chunks.peak_memory
            if chunks.is_under_way:
                self.close()

    def close(self) -> None:
        """Stop the processes; a later request starts them again."""
        if self._workers:
            self._workers.end()


def _devices(spec: TransformersSpec) -> list[str]:
    if spec.devices != "all":
        return list(spec.devices)
    require_local()
    import torch

    if not (n := torch.cuda.device_count()):
        raise ModelError(f'{spec.path}: devices = "all", but no CUDA device was found')
    return [f"cuda:{number}" for number in range(n)]
