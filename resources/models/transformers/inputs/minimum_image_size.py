"""Enlarges images that a family cannot take."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from PIL import Image as PILImage

from resources.models.workers.conversations import Message, with_images

if TYPE_CHECKING:
    from resources.models.transformers.inputs.processor import Processor

LEAST_SIDE = 28  # px; a patch of the families that refuse narrow images
_NARROWEST = 100  # the longer side in shorter ones; Qwen-VL takes less than 200
REFUSALS = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What processors raise where they cannot take an image, or a text."""


class LeastSizes:
    """Knows which images one processor, or the model behind it, cannot take."""

    def __init__(self, processor: "Processor") -> None:
        self._processor = processor

    def enlarged(self, talk: list[Message], *, tried: bool) -> tuple[list[Message], str]:
        """Enlarge the images that are not taken to the least size that may be.

        Args:
            talk: A conversation.
            tried: Show each image to the processor; else only what is known beforehand counts.

        Returns:
            The conversation, and what was changed.
        """
        takes: Callable[[PILImage.Image], bool] = self._takes if tried else self._is_large_enough
        changed: list[str] = []

        def taken(image: PILImage.Image) -> PILImage.Image:
            if takes(image):
                return image
            least = max((self._merged or 0) + 1, LEAST_SIDE, -(-max(image.size) // _NARROWEST))
            width, height = (max(side, least) for side in image.size)
            if (width, height) == image.size:
                return image  # refused for something else
            changed.append(f"{image.width}x{image.height} px to {width}x{height} px")
            return image.resize((width, height), PILImage.Resampling.BICUBIC)

        written = [with_images(message, taken) for message in talk]
        return written, f"enlarged for the processor: {', '.join(changed)}" if changed else ""

    def _takes(self, image: PILImage.Image) -> bool:
        if not self._is_large_enough(image):
            return False
        try:
            self._processor.image_processor(images=[image], return_tensors="pt")
        except REFUSALS:
            return False
        return True

    def _is_large_enough(self, image: PILImage.Image) -> bool:
        return self._merged is None or min(image.size) > self._merged

    @cached_property
    def _merged(self) -> int | None:
        """Px of a side that one token stands for, where the model fails on an image of one token.

        So do Pixtral and Mistral 3, in whose models it loses a dimension.
        """
        merged = getattr(self._processor, "spatial_merge_size", None)
        patch = getattr(self._processor, "patch_size", None)
        return merged * patch if isinstance(merged, int) and isinstance(patch, int) else None
