"""Image token counts, and minimum image sizes."""

from collections.abc import Callable
from functools import cached_property, lru_cache, partial
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
        self._known = lru_cache(maxsize=10_000)(self._counted if self._counter else self._tried)

    def of(self, width: int, height: int) -> int:
        """Count the tokens of an image by its size in px.

        Raises:
            ValueError: If the processor refuses images of that size, or its tokens cannot be
                counted.
        """
        with self._lock:
            try:
                return self._constant_count or self._known(width, height)
            except PROCESSOR_ERRORS as error:
                raise ValueError(f"an image of {width} x {height} px: {error}") from error

    @cached_property
    def _counter(self) -> Callable[..., Any] | None:
        """The processor's own counting method, if it has one."""
        if type(self._processor).__name__ == "SmolVLMProcessor":
            from transformers import (
                Idefics3Processor,  # splits images and writes their tokens alike
            )

            return partial(Idefics3Processor._get_num_multimodal_tokens, self._processor)
        return getattr(self._processor, "_get_num_multimodal_tokens", None)

    @cached_property
    def _constant_count(self) -> int | None:
        """Tokens of every image, for families that resize all images to one size."""
        if self._counter:
            return None
        try:
            counts = {self._known(*shape) for shape in _SHAPES}
        except PROCESSOR_ERRORS:
            return None
        return counts.pop() if len(counts) == 1 else None

    def _counted(self, width: int, height: int) -> int:
        assert self._counter is not None
        return int(self._counter(image_sizes=[(height, width)])["num_image_tokens"][0])

    def _tried(self, width: int, height: int) -> int:
        """Count by processing a black image."""
        arguments = {"images": [[PILImage.new("RGB", (width, height))]], "return_tensors": "pt"}
        inputs = self._processor(text=[str(self._processor.image_token)], **arguments)
        frame = self._processor.tokenizer("")["input_ids"]  # tokens around any text
        return int(inputs["input_ids"].shape[-1]) - len(frame)


LEAST_SIDE = 28  # px; patch size of families that refuse narrow images
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

    def enlarge_images(self, chat: list[Message], *, tried: bool) -> tuple[list[Message], str]:
        """Enlarge refused images to the minimum size.

        With ``tried``, the processor is called on each image to find the refused ones.

        Returns:
            The conversation, and a note of the changes.
        """
        accepts: Callable[[PILImage.Image], bool] = (
            self._is_accepted if tried else self._is_large_enough
        )
        changed: list[str] = []

        def taken(image: PILImage.Image) -> PILImage.Image:
            if accepts(image):
                return image
            least = max(
                (self._token_side or 0) + 1, LEAST_SIDE, -(-max(image.size) // _MAX_ASPECT_RATIO)
            )
            width, height = (max(side, least) for side in image.size)
            if (width, height) == image.size:
                return image  # refused for another reason
            changed.append(f"{image.width}x{image.height} px to {width}x{height} px")
            return image.resize((width, height), PILImage.Resampling.BICUBIC)

        written = [with_images(message, taken) for message in chat]
        return written, f"enlarged for the processor: {', '.join(changed)}" if changed else ""

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
        merged = getattr(self._processor, "spatial_merge_size", None)
        patch = getattr(self._processor, "patch_size", None)
        return merged * patch if isinstance(merged, int) and isinstance(patch, int) else None
