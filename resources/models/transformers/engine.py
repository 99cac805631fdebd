"""Local engine: a Hugging Face checkpoint on one or several devices.

Several devices, a process with all the weights on each; requests go to whichever is free.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property

from bench_assets.core.schema.chat import Decoding, Request, Response
from bench_assets.core.schema.errors import ModelError
from resources.checkpoints.identity import Checkpoint, pin
from resources.config.sections.local_models import TransformersSpec
from resources.models.transformers.image_digests import ImageDigests
from resources.models.transformers.loading import device_of, dtype_of
from resources.models.transformers.model import load
from resources.models.transformers.sampling import Card, as_recommended, card_of
from resources.models.workers.batching import Batches
from resources.models.workers.local_model import (
    peak_memory,
    reset_peak_memory,
)
from resources.models.workers.pool import SideBySide
from resources.models.workers.port import Job, Load, with_template
from resources.models.workers.processes import Processes
from resources.response_cache.engine import ReadImage
from resources.response_cache.image_changes import LOCAL_CHANGES, ImageChangeRecorder


class TransformersEngine:
    """Runs a checkpoint on CUDA, MPS or the CPU; weights are loaded at the first request.

    In float32 on the CPU a response is the same alone and in any batch; in half precision, and on
    GPUs, sums are rounded differently in different batches, and a near-tie may fall the other way.
    Sampled responses depend on seed, prompt and sample number, not on what else is asked.
    """

    def __init__(
        self,
        spec: TransformersSpec,
        location: str,
        read_image: ReadImage,
        load: Load = load,
        *,
        digests: ImageDigests | None = None,
    ) -> None:
        """Prepare to load.

        Args:
            spec: How it is asked.
            location: A folder, ``package:NAME`` or a hub id.
            read_image: Finds the images that prompts name.
            load: Loads the checkpoint.
            digests: Remembers what processors make of an image; None: no part of the identity.
        """
        self._spec = spec
        self._location = location
        self._read_image = read_image
        self._load = load
        self.shown = ImageChangeRecorder(read_image, LOCAL_CHANGES)
        self._digests = digests
        self._peak_memory: int | None = None

    @cached_property
    def identity(self) -> str:
        """Content or commit of the checkpoint, precision, and what is done to the prompt.

        Raises:
            ModelError: If there is no such checkpoint, it is incomplete, or its processor does not
                load where it has to.
        """
        parts = [self.checkpoint.content, dtype_of(self._spec)]
        parts += self._spec.identity_parts
        if self._digests and not self._spec.text_only:
            parts.append(f"images={self._digests.of(self._spec, self.checkpoint)}")
        parts += ["compiled"] if self._spec.compile else []
        parts += [attention] if (attention := self._spec.attention) != "auto" else []
        return ",".join(parts)

    @cached_property
    def decoding(self) -> Decoding:
        """How responses are drawn where a request does not say otherwise.

        Raises:
            ModelError: If it is the card's, and that cannot be followed.
        """
        spec = self._spec
        return self._card.decoding(spec.max_tokens, spec.seed) if self._card else spec.decoding

    @cached_property
    def _card(self) -> Card | None:
        return card_of(self._spec, self.checkpoint)

    @cached_property
    def job(self) -> Job:
        """What it takes to ask the same of the checkpoint elsewhere.

        Raises:
            ModelError: If there is no such checkpoint, or its card cannot be followed.
        """
        spec, rest = as_recommended(self._spec, self._card)
        return Job(
            spec=spec,
            checkpoint=self.checkpoint,
            read_image=self._read_image,
            load=self._load,
            rest=rest,
        )

    @cached_property
    def _batches(self) -> Batches:
        return self.job.batches()

    @property
    def peak_memory(self) -> int | None:
        """Bytes that tensors held at most during the last stream, weights included; CUDA only."""
        return self._peak_memory

    @cached_property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint, pinned to what it holds.

        Raises:
            ModelError: If there is no such checkpoint or it is incomplete.
        """
        spec = self._spec
        pinned = pin(
            self._location,
            spec.revision,
            spec.gguf_file,
            processor=spec.processor,
            base=spec.base,
        )
        return with_template(spec, pinned)

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Answer requests batch by batch; yields position and response.

        Raises:
            ModelError: If the checkpoint is incomplete or does not load.
        """
        device = device_of(self._spec.device)
        reset_peak_memory(device)
        yield from self.shown.noted(requests, self._batches.stream(requests))
        self._peak_memory = peak_memory(device)

    def particulars(self, request: Request) -> str:
        """The decoder's version where it changes the pixels of an image."""
        return self.shown.particulars(request)

    def close(self) -> None:
        """Give back the memory; a later request loads the weights again."""
        self._batches.close()


class DataParallelEngine(SideBySide):
    """Runs one checkpoint on several devices at once; processes start at the first request.

    A process that dies costs nothing but time: what it had not answered yet is asked once more, on
    another device, after everything else. Only what two processes died of, or what no process is
    left for, comes back with ``error``; the next stream starts the dead ones again.

    The identity is that of one device. A device changes nothing but with whom a request shares a
    batch, which no identity names: in float32 on the CPU responses are the same to the letter, in
    half precision and on GPUs they are as alike as those of two batch sizes. GPUs of different
    models round differently besides; keep to one model where that matters.
    """

    def __init__(
        self,
        spec: TransformersSpec,
        location: str,
        read_image: ReadImage,
        load: Load = load,
        *,
        digests: ImageDigests | None = None,
    ) -> None:
        """Prepare to load ``location``; ``read_image`` and ``load`` are sent to the processes.

        ``digests`` is for the identity, as with one device.

        Raises:
            ModelError: If all devices are to be used, and there is none.
        """
        devices = _devices(spec)
        one = spec.model_copy(update={"devices": (), "device": devices[0]})
        # Chosen once, as part of the identity.
        one = one.model_copy(update={"dtype": dtype_of(one)})
        engine = TransformersEngine(one, location, read_image, load, digests=digests)
        super().__init__(engine, lambda job: Processes([(at, job.on(at)) for at in devices]))


def _devices(spec: TransformersSpec) -> list[str]:
    if spec.devices != "all":
        return list(spec.devices)
    import torch

    if not (n := torch.cuda.device_count()):
        raise ModelError(f"{spec.path}: devices are all those of CUDA, and there is none")
    return [f"cuda:{number}" for number in range(n)]
