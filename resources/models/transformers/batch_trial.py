"""A trial of a loaded checkpoint: three prompts alone, and in a batch.

Some architectures read the padding of their neighbours: Emu3 normalises over a whole batch of
images. They are asked one at a time. What cannot be asked about an image at all is refused here,
before a question is.
"""

import logging
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from PIL import Image as PILImage

from bench_assets.core.schema.errors import ModelError
from resources.checkpoints.hub_access import first_line
from resources.checkpoints.identity import Checkpoint
from resources.config.sections.local_models import TransformersSpec
from resources.models.transformers.findings import Findings, key_of
from resources.models.transformers.loading import device_of, dtype_of
from resources.models.workers.local_model import ContextFullError, Message, is_out_of_memory

if TYPE_CHECKING:
    from torch import Tensor

    from resources.models.transformers.model import TransformersModel

ALONE, TOGETHER = "one at a time", "in batches"

_SIZES = ((96, 64), (64, 128), (160, 160))  # px; of three numbers of tiles or patches in most
_TEXTS = ("What is this?", "How many colours are there in the image? Answer yes or no.", "Left?")
_STEPS = 3  # tokens whose scores are compared
_ROUNDING = 32  # machine epsilons; of a logit that is a sum of many products
_LEAST = 1e-3  # of float32, whose sums differ by more than its epsilon
_log = logging.getLogger("bench_assets.local")


class BatchTrials:
    """Results of trials, remembered by content, precision, device and versions."""

    def __init__(self, file: Path) -> None:
        self._known = Findings(file)

    def known(self, spec: TransformersSpec, checkpoint: Checkpoint) -> str | None:
        """How a checkpoint is asked, if it was tried."""
        return self._known.known(_key(spec, checkpoint))

    def of(
        self,
        spec: TransformersSpec,
        checkpoint: Checkpoint,
        loaded: "Callable[[], TransformersModel]",
    ) -> str:
        """How a checkpoint is asked: ``ALONE`` or ``TOGETHER``; loads it unless it was tried.

        Raises:
            ModelError: If it does not load, or cannot be asked about an image.
        """
        return self._known.of(_key(spec, checkpoint), lambda: trial(loaded(), spec))


def trial(model: "TransformersModel", spec: TransformersSpec) -> str:
    """Ask three prompts alone and together; compare the scores of the first tokens.

    Raises:
        ModelError: If one of them cannot be asked alone.
    """
    talks = [_talk(size, text, spec) for size, text in zip(_SIZES, _TEXTS, strict=True)]
    try:
        alone = [model.scores(model.prepare([talk]), _STEPS)[0] for talk in talks]
    except ContextFullError:
        return ALONE  # a question that fits says more
    except Exception as why:  # of any kind: families differ
        if is_out_of_memory(why):
            return ALONE
        raise ModelError(_cannot(model, spec, why)) from why
    try:
        together = model.scores(model.prepare(talks), _STEPS)
    except Exception as why:  # noqa: BLE001 - as above
        _log.warning("%s: asked one at a time: a batch fails (%s)", spec.path, first_line(why))
        return ALONE
    apart = [_apart(one, other) for one, other in zip(alone, together, strict=True)]
    allowed = _allowed(model.weights.dtype)
    # Where sums are rounded, an expert or a near-tie may fall the other way in one of three.
    measured = max(apart) if allowed == _LEAST else median(apart)
    if measured <= allowed:
        return TOGETHER
    _log.warning(
        "%s: asked one at a time: in a batch its scores change by %.2g of their spread (at most "
        "%.2g is rounding)",
        spec.path,
        measured,
        allowed,
    )
    return ALONE


def _key(spec: TransformersSpec, checkpoint: Checkpoint) -> str:
    how = (dtype_of(spec), device_of(spec.device).split(":")[0], spec.attention, spec.cache)
    settings = [f"compile={spec.compile}", *spec.identity_parts]
    return key_of(spec, checkpoint, "asked", *how, *settings, f"torch={version('torch')}")


def _talk(size: tuple[int, int], text: str, spec: TransformersSpec) -> list[Message]:
    image = [] if spec.text_only else [{"type": "image", "image": _drawn(size)}]
    return [{"role": "user", "content": [*image, {"type": "text", "text": text}]}]


def _drawn(size: tuple[int, int]) -> PILImage.Image:
    """An image of stripes and slopes."""
    width, height = size
    levels = bytes(
        level
        for y in range(height)
        for x in range(width)
        for level in (255 * (x // 8 % 2), 255 * (x + y) // (width + height), 255 * (y // 16 % 2))
    )
    return PILImage.frombytes("RGB", size, levels)


def _apart(alone: "Sequence[Tensor]", together: "Sequence[Tensor]") -> float:
    """The largest difference of a step's scores, in units of their spread.

    Steps behind a token that differs are not compared: they continue other texts.
    """
    worst = 0.0
    for one, other in zip(alone, together, strict=False):
        finite = one.isfinite() & other.isfinite()
        spread = one[finite] - one[finite].mean()
        difference = (one[finite] - other[finite]).norm() / spread.norm().clamp_min(1e-12)
        worst = max(worst, float(difference))
        if one.argmax() != other.argmax():
            break
    return worst


def _allowed(dtype: Any) -> float:  # noqa: ANN401 - a dtype of torch
    import torch

    return max(_LEAST, _ROUNDING * float(torch.finfo(dtype).eps))


def _cannot(model: "TransformersModel", spec: TransformersSpec, why: Exception) -> str:
    about = "a text" if spec.text_only else "an image"
    return (
        f"{spec.path}: {type(model.weights).__name__} cannot be asked a question about {about} by "
        f'transformers ({first_line(why)}). Serve it (kind = "server"), or take another model'
    )
