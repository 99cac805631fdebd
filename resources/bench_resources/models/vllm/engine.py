"""Engine of a checkpoint in vLLM, in this process."""

import gc
import json
from functools import cached_property

from bench_resources.config.sections.local_models import VllmSpec
from bench_resources.models.transformers.engine import CheckpointEngine
from bench_resources.models.transformers.sampling import Card, card_of
from bench_resources.models.vllm.loading import refuse_unsupported
from bench_resources.models.vllm.model import load
from bench_resources.response_cache.engine import ReadImage


class VllmEngine(CheckpointEngine[VllmSpec]):
    """Runs a checkpoint with vLLM.

    vLLM batches continuously and caches shared prefixes, so that near-ties may fall differently
    from run to run. Prompts are those of ``TransformersEngine``, token for token. Sampled responses
    differ, because vLLM has its own generators.
    """

    def __init__(self, spec: VllmSpec, location: str, read_image: ReadImage) -> None:
        """Store the configuration; ``location`` is a folder or a hub id."""
        super().__init__(spec, location, read_image, load)

    @cached_property
    def identity(self) -> str:
        """Content of the checkpoint, precision, vLLM, and settings that change arithmetic.

        vLLM's version is not part of it: an upgrade would repeat everything because of near-ties.
        """
        spec = self._spec
        parts = [self.checkpoint.content, spec.dtype, "vllm", *spec.identity_parts]
        parts += [f"len={limit}"] if (limit := spec.max_model_len) else []
        parts += [f"tp={gpus}"] if (gpus := spec.tensor_parallel_size) > 1 else []
        parts += ["prompts=vllm"] if spec.prompts == "vllm" else []
        parts += [json.dumps(spec.extra, sort_keys=True)] if spec.extra else []
        return ",".join(parts)

    def close(self) -> None:
        """Free the memory; a later request loads the weights again."""
        super().close()
        gc.collect()  # vLLM ends its processes when its last object is collected

    @cached_property
    def _card(self) -> Card | None:
        card = card_of(self._spec, self.checkpoint)
        if card:
            refuse_unsupported(card.rest, self.checkpoint.location)
        return card
