"""Digests of a checkpoint's image preprocessing.

transformers may resize with torchvision instead of Pillow, or change a default: the same checkpoint
then gives other tensors. A digest of the tensors of one synthetic image is part of the identity. It
is cached by what it depends on, and computed anew after an upgrade.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from PIL import Image as PILImage

from bench_assets.core.schema.errors import ModelError
from resources.checkpoints.content_checksums import require_unchanged
from resources.checkpoints.identity import Checkpoint
from resources.config.sections.local_models import TransformersSpec
from resources.storage.atomic_write import open_atomic

_PACKAGES = ("transformers", "pillow", "torchvision")
_SIZE = (300, 220)  # px
_STEPS = 64  # to 1: coarse enough for rounding on another CPU, and one of 256 levels is seen
_DIGITS = 8


class ImageDigests:
    """Digests in a JSON file, shared by processes; a lost entry is computed again."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def of(self, spec: TransformersSpec, checkpoint: Checkpoint) -> str:
        """The digest of a checkpoint; loads its processor unless it is cached.

        Raises:
            ModelError: If the processor does not load, or takes no image.
        """
        key = _key(spec, checkpoint)
        known = self._read().get(key)
        if known is not None:
            return known
        digest = _digest(spec, checkpoint)
        self._write({**self._read(), key: digest})
        return digest

    def _read(self) -> dict[str, str]:
        try:
            written = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        known = written if isinstance(written, dict) else {}
        return {key: digest for key, digest in known.items() if isinstance(digest, str)}

    def _write(self, known: Mapping[str, str]) -> None:
        with open_atomic(self._file, sync=False) as file:
            file.write(json.dumps(known, indent=0).encode())


def _key(spec: TransformersSpec, checkpoint: Checkpoint) -> str:
    """Everything that the tensors depend on, without importing any of it."""
    settings = json.dumps(spec.processor_kwargs, sort_keys=True)
    packages = (f"{name}={_version(name)}" for name in _PACKAGES)
    return " ".join([checkpoint.content, settings, *packages])


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def _digest(spec: TransformersSpec, checkpoint: Checkpoint) -> str:
    from resources.models.transformers.loading import why_not
    from resources.models.transformers.processor import load_processor

    try:
        with require_unchanged(checkpoint.checksums):
            processor: Any = load_processor(spec, checkpoint)
        made = processor.image_processor(images=[_drawn()], return_tensors="pt")
    except ModelError:
        raise
    except Exception as why:  # of any kind: formats, families and strangers' code
        raise ModelError(f"{checkpoint.location}: does not load: {why_not(why)}") from why
    state = sha256()
    for name, tensor in sorted(made.items()):
        state.update(f"{name} {_written(tensor)}\n".encode())
    return state.hexdigest()[:_DIGITS]


def _written(made: Any) -> str:  # noqa: ANN401 - a tensor, mostly
    """A tensor as shape and digest of its rounded values; anything else as repr."""
    if not hasattr(made, "is_floating_point"):
        return repr(made)
    numbers = (made.double() * _STEPS).round().long() if made.is_floating_point() else made.long()
    return f"{tuple(made.shape)} {sha256(numbers.contiguous().numpy().tobytes()).hexdigest()}"


def _drawn() -> PILImage.Image:
    """An image of stripes and slopes, which every resampling blurs differently."""
    width, height = _SIZE
    colours = bytes(
        level
        for y in range(height)
        for x in range(width)
        for level in (255 * (x // 3 % 2), 255 * (x + y) // (width + height), 255 * (y // 5 % 2))
    )
    return PILImage.frombytes("RGB", _SIZE, colours)
