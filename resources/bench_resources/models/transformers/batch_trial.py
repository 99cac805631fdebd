"""Batch trial of a loaded checkpoint: three prompts alone and in a batch, with images and without.

In some architectures a response depends on the rest of its batch: Emu3 normalises over a whole
batch of images. Their requests are sent one at a time. A checkpoint that cannot process an image at
all is refused here, before the first question.
"""

import logging
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from PIL import Image as PILImage

from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.hub_access import first_line
from bench_resources.checkpoints.identity import Checkpoint
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.models.transformers.findings import Findings, key_of
from bench_resources.models.transformers.image_digests import striped
from bench_resources.models.transformers.loading import device_of, dtype_of
from bench_resources.models.workers.local_model import ContextFullError, Message, is_out_of_memory

if TYPE_CHECKING:
    from torch import Tensor

    from bench_resources.models.transformers.model import TransformersModel

ALONE, TOGETHER = "one at a time", "in batches"

# Width and height in px; three numbers of tiles or patches in most families.
_SIZES = ((96, 64), (64, 128), (160, 160))
_TEXTS = ("What is this?", "How many colours are there in the image? Answer yes or no.", "Left?")
_STEPS = 3  # tokens whose scores are compared
_ROUNDING = 32  # tolerance of a logit, a sum of many products, in machine epsilons
_MIN_TOLERANCE = 1e-3  # least tolerance of a logit, for float32
_log = logging.getLogger("bench_assets.local")


class BatchTrials:
    """Results of trials, cached by content, precision, device and versions."""

    def __init__(self, file: Path, *, tries: bool = True) -> None:
        """Store the file; without ``tries``, an untried checkpoint counts as ``TOGETHER``."""
        self._findings = Findings(file)
        self._tries = tries

    def result(
        self,
        spec: TransformersSpec,
        checkpoint: Checkpoint,
        load: "Callable[[], TransformersModel]",
    ) -> str:
        """The result of a checkpoint, ``ALONE`` or ``TOGETHER``; may load and try it.

        Raises:
            ModelError: If it does not load, or cannot process an image.
        """
        key = _key(spec, checkpoint)
        if not self._tries:
            return self._findings.get(key) or TOGETHER
        return self._findings.get_or_find(key, lambda: trial(load(), spec))


def trial(model: "TransformersModel", spec: TransformersSpec) -> str:
    """Compare three prompts alone and in a batch; returns ``ALONE`` or ``TOGETHER``.

    Raises:
        ModelError: If the model cannot process an image, or, text-only, a text.
    """
    texts = [_build_conversation(text) for text in _TEXTS]
    image_prompts = [
        _build_conversation(text, striped(size, stripe_width=8, stripe_height=16))
        for text, size in zip(_TEXTS, _SIZES, strict=True)
    ]
    effect = "" if spec.text_only else _batch_effect(model, spec, image_prompts, needed=True)
    effect = effect or _batch_effect(model, spec, texts, needed=spec.text_only)
    if not effect:
        return TOGETHER
    _log.warning("%s: requests are sent one at a time: %s", spec.path, effect)
    return ALONE


def _batch_effect(
    model: "TransformersModel",
    spec: TransformersSpec,
    chats: Sequence[list[Message]],
    *,
    needed: bool,
) -> str:
    """How scores of the first tokens differ in a batch; "" if only by rounding.

    Prompts that fail one at a time say nothing about a batch; if ``needed``, they raise
    ``ModelError``, unless for lack of memory or context.
    """
    try:
        single_scores = [model.scores(model.prepare([chat]), _STEPS)[0] for chat in chats]
    except Exception as error:  # any exception: families differ
        if not needed:
            return ""
        if is_out_of_memory(error) or isinstance(error, ContextFullError):
            return first_line(error)  # questions may be smaller
        raise ModelError(_unusable_message(model, spec, error)) from error
    try:
        batch_scores = model.scores(model.prepare(chats), _STEPS)
    except Exception as error:  # noqa: BLE001 - as above
        return f"a batch fails ({first_line(error)})"
    if len(batch_scores) != len(single_scores):
        return "a batch returns another number of prompts"
    differences = [
        _max_difference(single_steps, batch_steps)
        for single_steps, batch_steps in zip(single_scores, batch_scores, strict=True)
    ]
    tolerance = _score_tolerance(model.weights.dtype)
    # With rounded sums, an expert or a near-tie may change in one of three.
    measured = max(differences) if tolerance == _MIN_TOLERANCE else median(differences)
    if measured <= tolerance:
        return ""
    return (
        f"in a batch its scores change by {measured:.2g} of their spread (at most {tolerance:.2g}"
        " is rounding)"
    )


def _key(spec: TransformersSpec, checkpoint: Checkpoint) -> str:
    """Key of everything that the result of a trial depends on."""
    runtime = (dtype_of(spec), device_of(spec.device).split(":")[0], spec.attention)
    torch = f"torch={version('torch')}"
    return key_of(spec, checkpoint, "asked", *runtime, *spec.identity_parts, torch)


def _build_conversation(text: str, *images: PILImage.Image) -> list[Message]:
    image_parts = [{"type": "image", "image": image} for image in images]
    return [{"role": "user", "content": [*image_parts, {"type": "text", "text": text}]}]


def _max_difference(single_steps: "Sequence[Tensor]", batch_steps: "Sequence[Tensor]") -> float:
    """The largest difference of a step's scores, in units of their spread.

    Steps after the end of either text, or after a token that differs, are not compared.
    """
    largest = 0.0
    for single, batched in zip(single_steps, batch_steps, strict=False):
        finite = single.isfinite() & batched.isfinite()
        spread = (single[finite] - single[finite].mean()).norm().clamp_min(1e-12)
        difference = (single[finite] - batched[finite]).norm() / spread
        largest = max(largest, float(difference))
        if single.argmax() != batched.argmax():
            break
    return largest


def _score_tolerance(dtype: Any) -> float:  # noqa: ANN401 - a dtype of torch
    import torch

    return max(_MIN_TOLERANCE, _ROUNDING * float(torch.finfo(dtype).eps))


def _unusable_message(model: "TransformersModel", spec: TransformersSpec, error: Exception) -> str:
    content = "a text" if spec.text_only else "an image"
    return (
        f"{spec.path}: {type(model.weights).__name__} cannot be asked a question about {content}"
        f' by transformers ({first_line(error)}). Serve it (kind = "server"), or take another model'
    )
