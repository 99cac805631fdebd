"""Several devices, a process with all the weights on each; requests go to whichever is free."""

from collections.abc import Iterator, Sequence

from bench_assets.core.chat import Decoding, Reply, Request
from bench_assets.core.errors import ModelError
from resources.local.chunks import Chunks
from resources.local.engine import TransformersEngine
from resources.local.loading import dtype_of
from resources.local.model import load
from resources.local.picture_digests import PictureDigests
from resources.local.processes import Processes
from resources.local.workers import Load
from resources.replies.engine import ReadImage
from resources.settings.local_specs import TransformersSpec


class DataParallelEngine:
    """Runs one checkpoint on several devices at once; processes start at the first request.

    A process that dies costs nothing but time: what it had not answered yet is asked once more, on
    another device, after everything else. Only what two processes died of, or what no process is
    left for, comes back with ``error``; the next stream starts the dead ones again.

    The identity is that of one device. A device changes nothing but with whom a request shares a
    batch, which no identity names: in float32 on the CPU replies are the same to the letter, in
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
        digests: PictureDigests | None = None,
    ) -> None:
        """Prepare to load ``location``; ``read_image`` and ``load`` are sent to the processes.

        ``digests`` is for the identity, as with one device.

        Raises:
            ModelError: If all devices are to be used, and there is none.
        """
        self._devices = _devices(spec)
        one = spec.model_copy(update={"devices": (), "device": self._devices[0]})
        # Chosen once, as part of the identity.
        one = one.model_copy(update={"dtype": dtype_of(one)})
        self._one = TransformersEngine(one, location, read_image, load, digests=digests)
        self.particulars = self._one.particulars
        self._processes: Processes | None = None
        self._peak_memory: int | None = None

    @property
    def identity(self) -> str:
        """That of the checkpoint on one device.

        Raises:
            ModelError: If there is no such checkpoint or it is incomplete.
        """
        return self._one.identity

    @property
    def decoding(self) -> Decoding:
        """How replies are drawn where a request does not say otherwise."""
        return self._one.decoding

    @property
    def peak_memory(self) -> int | None:
        """Bytes on the fullest device during the last stream, weights included; CUDA only."""
        return self._peak_memory

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """Answer requests, longest first, on all devices; yields position and reply.

        Closing the iterator early ends the processes.

        Raises:
            ModelError: If the checkpoint does not load whole, or its card cannot be followed.
        """
        job = self._one.job
        self._processes = self._processes or Processes(
            [(device, job.on(device)) for device in self._devices]
        )
        self._processes.start()
        chunks = Chunks(job.spec, requests, self._processes)
        try:
            yield from self._one.shown.noted(requests, chunks.replies())
        finally:
            self._peak_memory = chunks.peak_memory
            if chunks.is_under_way:
                self.close()

    def close(self) -> None:
        """End the processes; a later request starts them again."""
        if self._processes:
            self._processes.end()


def _devices(spec: TransformersSpec) -> list[str]:
    if spec.devices != "all":
        return list(spec.devices)
    import torch

    if not (n := torch.cuda.device_count()):
        raise ModelError(f"{spec.path}: devices are all those of CUDA, and there is none")
    return [f"cuda:{number}" for number in range(n)]
