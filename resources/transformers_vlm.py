"""The local engine: a Hugging Face checkpoint, asked in batches in this process."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TypeAlias

from bench_assets.core.chat import Decoding, Reply, Request
from resources import device_memory
from resources.batches import Answers, Batches
from resources.checkpoints import Checkpoint, pin
from resources.engine import ReadImage
from resources.model_specs import TransformersSpec
from resources.transformers_model import device_of, dtype_of, load

Load: TypeAlias = Callable[[TransformersSpec, Checkpoint], Answers]


class TransformersEngine:
    """Runs a checkpoint on CUDA, MPS or the CPU; weights are loaded at the first request.

    In float32 on the CPU a reply is the same alone and in any batch; in half precision, and on
    GPUs, sums are rounded differently in different batches, and a near-tie may fall the other way.
    Sampled replies depend on seed, prompt and sample number, not on what else is asked.
    """

    def __init__(
        self,
        spec: TransformersSpec,
        location: str,
        read_image: ReadImage,
        load: Load = load,
    ) -> None:
        """Prepare to load ``location``: a folder, ``package:NAME`` or a hub id."""
        self._spec = spec
        self._location = location
        self._batches = Batches(spec, read_image, lambda: load(spec, self.checkpoint))
        self._peak_memory: int | None = None

    @cached_property
    def identity(self) -> str:
        """Content or commit of the checkpoint, precision, and what is done to the prompt.

        Raises:
            ModelError: If there is no such checkpoint or it is incomplete.
        """
        parts = [self.checkpoint.content, dtype_of(self._spec)]
        parts += [f"px={limit}"] if (limit := self._spec.max_image_pixels) else []
        parts += ["text_only"] if self._spec.text_only else []
        parts += ["compiled"] if self._spec.compile else []
        return ",".join(parts)

    @property
    def decoding(self) -> Decoding:
        """How replies are drawn where a request does not say otherwise."""
        return self._spec.decoding

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
        return pin(self._location, self._spec.revision, self._spec.gguf_file)

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """Answer requests batch by batch; yields position and reply.

        Raises:
            ModelError: If the checkpoint is incomplete or does not load.
        """
        device = device_of(self._spec.device)
        device_memory.start_counting(device)
        yield from self._batches.stream(requests)
        self._peak_memory = device_memory.most_held(device)

    def close(self) -> None:
        """Give back the memory; a later request loads the weights again."""
        self._batches.close()
