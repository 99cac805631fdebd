"""Digests of a checkpoint's image preprocessing.

transformers may resize with torchvision instead of Pillow, or change a default: the same checkpoint
then gives other tensors. A digest of the tensors of one synthetic image is part of the identity.
"""

from hashlib import sha256
from pathlib import Path
from typing import Any

from PIL import Image as PILImage

from bench_resources.checkpoints.content_checksums import require_unchanged
from bench_resources.checkpoints.identity import Checkpoint
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.models.transformers.findings import Findings, key_of

_SIZE = (300, 220)  # px
_STEPS = 64  # steps per unit: rounding on another CPU disappears, one of 256 levels does not
_DIGITS = 8  # hexadecimal digits of a digest


class ImageDigests:
    """Cached digests of the image preprocessing of checkpoints."""

    def __init__(self, file: Path) -> None:
        self._findings = Findings(file)

    def digest(self, spec: TransformersSpec, checkpoint: Checkpoint) -> str:
        """The digest of a checkpoint; loads its processor unless it is cached.

        Raises:
            ModelError: If the processor does not load, or takes no image.
        """
        key = key_of(spec, checkpoint)
        return self._findings.get_or_find(key, lambda: _digest_tensors(spec, checkpoint))


def _digest_tensors(spec: TransformersSpec, checkpoint: Checkpoint) -> str:
    """Digest of the tensors that a checkpoint's processor makes of one image."""
    from bench_resources.models.transformers.loading import loading_errors
    from bench_resources.models.transformers.processor import load_processor

    with loading_errors(checkpoint.location):
        with require_unchanged(checkpoint.checksums):
            processor: Any = load_processor(spec, checkpoint)
        image = striped(_SIZE, stripe_width=3, stripe_height=5)
        inputs = processor.image_processor(images=[image], return_tensors="pt")
    state = sha256()
    for name, tensor in sorted(inputs.items()):
        state.update(f"{name} {_format_tensor(tensor)}\n".encode())
    return state.hexdigest()[:_DIGITS]


def _format_tensor(value: Any) -> str:  # noqa: ANN401 - a tensor, mostly
    """A tensor as shape and digest of its rounded values; anything else as repr."""
    import torch

    if not isinstance(value, torch.Tensor):
        return repr(value)
    numbers = (value.double() * _STEPS).round() if value.is_floating_point() else value
    data = numbers.long().contiguous().numpy().tobytes()
    return f"{tuple(value.shape)} {sha256(data).hexdigest()}"


def striped(size: tuple[int, int], stripe_width: int, stripe_height: int) -> PILImage.Image:
    """An image of stripes and slopes in px, which every resampling blurs differently."""
    width, height = size
    levels = bytearray()
    for y in range(height):
        for x in range(width):
            upright, level = x // stripe_width % 2, y // stripe_height % 2
            levels += bytes((255 * upright, 255 * (x + y) // (width + height), 255 * level))
    return PILImage.frombytes("RGB", size, bytes(levels))
