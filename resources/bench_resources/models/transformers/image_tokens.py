"""Image token counts, and minimum image sizes."""

from collections.abc import Callable
from functools import cached_property, lru_cache, partial
from math import ceil
from threading import Lock
from typing import TYPE_CHECKING, Any

from PIL import Image as PILImage

from bench_resources.models.workers.local_model import Message, with_images

if TYPE_CHECKING:
    from transformers import ProcessorMixin

    from bench_resources.models.transformers.processor import Processor


_SHAPES = ((2000, 2000), (3000, 1000), (1000, 3000), (2000, 400), (400, 2000), (640, 480), (64, 64))
"""Width and height in px of images whose tokens are equal if the family has one size."""


class ImageTokens:
    """Counts the prompt tokens that a processor makes of an image; thread-safe."""

    def __init__(self, processor: "ProcessorMixin") -> None:
        self._processor = processor
        self._lock = Lock()
        count = self._count_by_method if self._count_method else self._count_by_processing
        self._cached_count = lru_cache(maxsize=10_000)(count)

    def count(self, width: int, height: int) -> int:
        """Count the tokens of an image by its size in px.

        Raises:
            ValueError: If the processor refuses images of that size, or its tokens cannot be
                counted.
        """
        with self._lock:
            try:
                return self._constant_count or self._cached_count(width, height)
            except PROCESSOR_ERRORS as error:
                raise ValueError(f"an image of {width} x {height} px: {error}") from error

    @cached_property
    def _count_method(self) -> Callable[..., Any] | None:
        """The processor's own counting method, if it has one."""
        if type(self._processor).__name__ == "SmolVLMProcessor":
            from transformers import Idefics3Processor  # makes the same tokens

            return partial(Idefics3Processor._get_num_multimodal_tokens, self._processor)
        return getattr(self._processor, "_get_num_multimodal_tokens", None)

    @cached_property
    def _constant_count(self) -> int | None:
        """Tokens of every image, for families that resize all images to one size."""
        if self._count_method:
            return None
        try:
            counts = {self._cached_count(*shape) for shape in _SHAPES}
        except PROCESSOR_ERRORS:
            return None
        return counts.pop() if len(counts) == 1 else None

    def _count_by_method(self, width: int, height: int) -> int:
        assert self._count_method is not None
        return int(self._count_method(image_sizes=[(height, width)])["num_image_tokens"][0])

    def _count_by_processing(self, width: int, height: int) -> int:
        """Count by processing a black image."""
        arguments = {"images": [[PILImage.new("RGB", (width, height))]], "return_tensors": "pt"}
        inputs = self._processor(text=[str(self._processor.image_token)], **arguments)
        around_text = self._processor.tokenizer("")["input_ids"]
        return int(inputs["input_ids"].shape[-1]) - len(around_text)


_LEAST_SIDE = 28  # px; patch size of families that refuse narrow images
_MAX_ASPECT_RATIO = 100  # maximum aspect ratio; Qwen-VL accepts less than 200
PROCESSOR_ERRORS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""Exceptions of processors that cannot process an image or a text."""


class MinimumSizes:
    """Enlarges images that a processor, or the model behind it, refuses."""

    def __init__(self, processor: "Processor") -> None:
        self._processor = processor

    def enlarge_images(self, chat: list[Message], *, try_images: bool) -> tuple[list[Message], str]:
        """Enlarge refused images to the minimum size.

        With ``try_images``, the processor is called on each image to find the refused ones.

        Returns:
            The conversation, and a note of the changes.
        """
        accepts = self._is_accepted if try_images else self._is_large_enough
        changes: list[str] = []

        def enlarge(image: PILImage.Image) -> PILImage.Image:
            width, height = image.size if accepts(image) else self._enlarged_size(image)
            if (width, height) == image.size:
                return image  # accepted, or refused for another reason
            changes.append(f"{image.width}x{image.height} px to {width}x{height} px")
            return image.resize((width, height), PILImage.Resampling.BICUBIC)

        enlarged = [with_images(message, enlarge) for message in chat]
        return enlarged, f"enlarged for the processor: {', '.join(changes)}" if changes else ""

    def _enlarged_size(self, image: PILImage.Image) -> tuple[int, int]:
        """Width and height in px, both long enough for size and aspect ratio."""
        least_for_ratio = ceil(max(image.size) / _MAX_ASPECT_RATIO)
        least_side = max((self._token_side or 0) + 1, _LEAST_SIDE, least_for_ratio)
        return max(image.width, least_side), max(image.height, least_side)

    def _is_accepted(self, image: PILImage.Image) -> bool:
        if not self._is_large_enough(image):
            return False
        try:
            self._processor.image_processor(images=[image], return_tensors="pt")
        except PROCESSOR_ERRORS:
            return False
        return True

    def _is_large_enough(self, image: PILImage.Image) -> bool:
        return self._token_side is None or min(image.size) > self._token_side

    @cached_property
    def _token_side(self) -> int | None:
        """Side of a token in px for Pixtral and Mistral 3, which fail on images of one token."""
        n_merged = getattr(self._processor, "spatial_merge_size", None)
        patch = getattr(self._processor, "patch_size", None)
        return n_merged * patch if isinstance(n_merged, int) and isinstance(patch, int) else None
