"""Image token counts, resizing to bound them, and minimum image sizes.

A family bounds the tokens of an image by its area (Qwen-VL, GLM-4V), by its number of tiles
(InternVL, LLaVA-NeXT, Idefics3, Mllama), or resizes every image to one size.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache, partial
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

from PIL import Image as PILImage

from bench_assets.core.schema.errors import ModelError
from bench_resources.models.workers.local_model import Message, with_images

if TYPE_CHECKING:
    from transformers import ProcessorMixin

    from bench_resources.models.transformers.processor import Processor


_Settings: TypeAlias = dict[str, Any]

_SHAPES = ((2000, 2000), (3000, 1000), (1000, 3000), (2000, 400), (400, 2000), (640, 480), (64, 64))
"""Width and height in px of images among which the maximum of a family's tokens is sought."""
_NARROW = ((6400, 100), (100, 6400))
"""Further shapes, which take the most tokens in tiling families. They do so too where the area is
bounded, as a row is at least one token high; but that would cost all other images tokens."""
_SHRINK = 0.9


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

    def most(self) -> int:
        """Maximum tokens over a range of shapes.

        Raises:
            ValueError: If the processor refuses one.
        """
        narrow = () if _is_limited_by_area(self._processor.image_processor) else _NARROW
        return max(self.of(*shape) for shape in (*_SHAPES, *narrow))

    def within(self, image: PILImage.Image, limit: int) -> PILImage.Image:
        """Shrink an image to at most ``limit`` tokens.

        Raises:
            ValueError: If even a tiny image has more.
        """
        for step in count():
            width, height = (max(1, round(side * _SHRINK**step)) for side in image.size)
            if (tokens := self.of(width, height)) <= limit:
                break
            if max(width, height) < LEAST_SIDE:
                raise ValueError(
                    f"an image has {tokens} tokens or more (max_image_tokens = {limit})"
                )
        return image.resize((width, height)) if step else image

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


def limit_tokens(processor: "ProcessorMixin", limit: int, name: str) -> None:
    """Configure a processor for at most ``limit`` tokens per image, and as many as possible.

    Raises:
        ModelError: If the family always uses more (names the minimum), or its tokens cannot be
            counted.
    """
    try:
        _apply_limit(processor, limit, name)
    except ValueError as error:
        raise ModelError(f"{name}: max_image_tokens cannot be enforced: {error}") from error


def _apply_limit(processor: "ProcessorMixin", limit: int, name: str) -> None:
    def most(settings: _Settings) -> int:
        for attribute, value in settings.items():
            setattr(processor.image_processor, attribute, value)
        return ImageTokens(processor).most()

    least = most({})
    if least <= limit:
        return
    for ladder in _candidate_settings(processor.image_processor, limit):
        least = most(ladder[-1])
        if least <= limit:
            most(ladder[bisect_left(ladder, True, key=lambda rung: most(rung) <= limit)])
            return
    raise ModelError(
        f"{name}: max_image_tokens = {limit}, but an image has at least {least} tokens"
    )


def _candidate_settings(images: Any, limit: int) -> Iterator[list[_Settings]]:  # noqa: ANN401 - any image processor
    """Settings to try, each list from most to fewest tokens."""
    if len(points := getattr(images, "image_grid_pinpoints", None) or ()) > 1:
        # LLaVA-NeXT, LLaVA-OneVision: height and width; every row ends in a token.
        by_tokens = sorted(points, key=lambda sides: (sides[0] * sides[1], sides[0]))
        yield [{"image_grid_pinpoints": by_tokens[:n]} for n in range(len(points) - 1, 0, -1)]
    for tiles in ("max_patches", "max_image_tiles", "dynamic_hd"):
        most = getattr(images, tiles, None)
        if isinstance(most, int) and most > 1:
            yield [{tiles: n} for n in range(most - 1, 0, -1)]
    longest = getattr(getattr(images, "size", None), "longest_edge", None)
    if _is_limited_by_area(images):
        yield _area_settings(images, limit)
    elif longest and (sides := list(_shorter_edges(longest))):  # px of the longer side
        yield [{"size": _with_longest_edge(images, side)} for side in sides]
    for cuts in ("crop_to_patches", "do_image_splitting", "do_pan_and_scan"):
        if getattr(images, cuts, None):
            yield [{cuts: False}]


def _is_limited_by_area(images: Any) -> bool:  # noqa: ANN401 - as above
    """Whether ``longest_edge`` bounds the area in px: Qwen-VL, GLM-4V."""
    size = getattr(images, "size", None)
    return bool(getattr(size, "longest_edge", None) and getattr(images, "merge_size", None))


def _shorter_edges(longest: int) -> Iterator[int]:
    while (longest := int(longest * _SHRINK)) >= LEAST_SIDE:
        yield longest


def _area_settings(images: Any, limit: int) -> list[_Settings]:  # noqa: ANN401 - as above
    token = (images.patch_size * images.merge_size) ** 2 * _frames(images)
    size = images.size
    least = size.shortest_edge or token
    return [
        {"size": type(size)(shortest_edge=min(least, n * token), longest_edge=n * token)}
        for n in range(limit, 0, -1)
    ]


def _frames(images: Any) -> int:  # noqa: ANN401 - as above
    # GLM-4V counts the pixels of an image once for each frame that a token spans.
    return int(images.temporal_patch_size) if "Glm" in type(images).__name__ else 1


def _with_longest_edge(images: Any, longest: int) -> Any:  # noqa: ANN401 - a SizeDict of transformers
    size = images.size
    shortest = size.shortest_edge and min(size.shortest_edge, longest)
    return type(size)(longest_edge=longest, shortest_edge=shortest)


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

    def enlarge_images(self, talk: list[Message], *, tried: bool) -> tuple[list[Message], str]:
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

        written = [with_images(message, taken) for message in talk]
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
