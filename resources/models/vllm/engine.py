"""The engine that hands a checkpoint to vLLM, in this process."""

import gc
import json
from collections.abc import Iterator, Sequence
from functools import cached_property

from bench_assets.core.schema.chat import Decoding, Request, Response
from resources.checkpoints.identity import Checkpoint, pin
from resources.config.sections.local_models import VllmSpec
from resources.models.transformers.sampling import Card, as_recommended, read_card
from resources.models.vllm.loading import refuse_unfollowed
from resources.models.vllm.model import load
from resources.models.workers.batching import Batches
from resources.models.workers.port import Job, with_template
from resources.response_cache.engine import ReadImage
from resources.response_cache.image_changes import LOCAL_CHANGES, ImageChangeRecorder


class VllmEngine:
    """Runs a checkpoint with vLLM; weights are loaded at the first request.

    vLLM runs requests side by side as room becomes free, and keeps what it computed of a beginning
    that prompts share (instructions, the same image asked again, the earlier turns of a
    conversation) as long as there is room. What shares a step differs from run to run, so that a
    near-tie may fall the other way, as in batches on a GPU.

    Prompts are those of ``TransformersEngine``, token for token. Responses are drawn by vLLM's own
    generators, so that the same seed draws others.
    """

    def __init__(self, spec: VllmSpec, location: str, read_image: ReadImage) -> None:
        """Prepare to load ``location``: a folder or a hub id."""
        self._spec = spec
        self._location = location
        self._read_image = read_image
        self.shown = ImageChangeRecorder(read_image, LOCAL_CHANGES)

    @cached_property
    def identity(self) -> str:
        """Content or commit of the checkpoint, precision, and what changes the arithmetic.

        vLLM's name is part of it, since its kernels round in their own way; its version is not,
        as little as that of transformers or torch: an upgrade would ask everything anew for the
        sake of near-ties. ``extra`` is part of it whole, because anything may be in it.

        Raises:
            ModelError: If there is no such checkpoint or it is incomplete.
        """
        spec = self._spec
        parts = [self._checkpoint.content, spec.dtype, "vllm", *spec.identity_parts]
        parts += [f"len={limit}"] if (limit := spec.max_model_len) else []
        parts += [f"tp={gpus}"] if (gpus := spec.tensor_parallel_size) > 1 else []
        parts += ["prompts=vllm"] if spec.prompts == "vllm" else []
        parts += [json.dumps(spec.extra, sort_keys=True)] if spec.extra else []
        return ",".join(parts)

    @cached_property
    def decoding(self) -> Decoding:
        """How responses are drawn where a request does not say otherwise.

        Raises:
            ModelError: If it is the card's, and vLLM cannot follow that.
        """
        spec = self._spec
        return self._card.decoding(spec.max_tokens, spec.seed) if self._card else spec.decoding

    @property
    def peak_memory(self) -> int | None:
        """Not known: vLLM takes the configured share of a GPU from the start."""
        return None

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Answer requests batch by batch; yields position and response.

        Raises:
            ModelError: If the checkpoint is incomplete or does not load, or vLLM breaks down.
        """
        yield from self.shown.noted(requests, self._batches.stream(requests))

    def particulars(self, request: Request) -> str:
        """The decoder's version where it changes the pixels of an image."""
        return self.shown.particulars(request)

    def close(self) -> None:
        """Give back the memory; a later request loads the weights again."""
        self._batches.close()
        gc.collect()  # vLLM ends its processes when its last object goes

    @cached_property
    def job(self) -> Job:
        """What it takes to ask the same of the checkpoint elsewhere.

        Raises:
            ModelError: If there is no such checkpoint, or its card cannot be followed.
        """
        spec, rest = as_recommended(self._spec, self._card)
        return Job(
            spec=spec,
            checkpoint=self._checkpoint,
            read_image=self._read_image,
            load=load,
            rest=rest,
        )

    @cached_property
    def _batches(self) -> Batches:
        return self.job.batches()

    @cached_property
    def _card(self) -> Card | None:
        if self._spec.named_decoding != "card":
            return None
        card = read_card(self._checkpoint)
        refuse_unfollowed(card.rest, self._checkpoint.location)
        return card

    @cached_property
    def _checkpoint(self) -> Checkpoint:
        spec = self._spec
        pinned = pin(self._location, spec.revision, processor=spec.processor, base=spec.base)
        return with_template(spec, pinned)
