"""Several devices, a process with all the weights on each; requests go to whichever is free."""

from bench_assets.core.schema.errors import ModelError
from resources.config.sections.local_models import TransformersSpec
from resources.models.transformers.engine import TransformersEngine
from resources.models.transformers.image_digests import ImageDigests
from resources.models.transformers.loading import dtype_of
from resources.models.transformers.model import load
from resources.models.workers.pool import SideBySide
from resources.models.workers.port import Load
from resources.models.workers.processes import Processes
from resources.response_cache.engine import ReadImage


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
