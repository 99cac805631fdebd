"""Port of a local model: conversations with decoded images, sampled draws, device memory.

torch is imported inside functions, because it takes seconds.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from PIL import Image as PILImage

from bench_assets.core.images import decoding
from bench_assets.core.schema.chat import Image, Response, Turn
from bench_assets.core.schema.errors import ImageError

Message: TypeAlias = dict[str, Any]  # as chat templates take it: role, and content as parts
DecodedImages: TypeAlias = dict[str, PILImage.Image]  # by SHA-256


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """Sampling parameters of a batch."""

    max_tokens: int
    temperature: float  # 0: greedy
    top_p: float
    seeds: Sequence[str]  # one for each conversation; any text
    elicit: str = ""  # "likelihood" or "constrained", of ``options``; "": free generation
    options: Sequence[Sequence[str]] = ()  # of each conversation

    @property
    def seed_numbers(self) -> list[int]:
        """The seeds as numbers of 60 bits."""
        return [int(hashlib.sha256(seed.encode()).hexdigest()[:15], 16) for seed in self.seeds]


class ContextFullError(ValueError):
    """A prompt does not fit into the model's context."""


class LoadedModel(Protocol):
    """A model in memory that answers batches of conversations."""

    def count_image_tokens(self, images: Sequence[PILImage.Image]) -> int:
        """Tokens of images in all, for batches of similar size; 0 if unknown. Thread-safe."""
        ...

    def prepare(self, conversations: Sequence[Sequence[Message]]) -> Any:  # noqa: ANN401 - its own
        """Prepare a batch for ``answer``; called in a thread while another batch is answered.

        Raises:
            Exception: If a conversation is invalid; the others are prepared again without it.
        """
        ...

    def answer(self, prepared: Any, draw: Draw) -> list[Response]:  # noqa: ANN401 - from prepare
        """Generate the next turn of each conversation.

        Raises:
            ModelError: If the model cannot answer anything any more.
            Exception: If a conversation cannot be answered, or memory runs out.
        """
        ...


def to_message(turn: Turn, images: DecodedImages) -> Message:
    """Convert a turn to a chat template's message; texts are joined if there are no images."""
    texts = [part for part in turn.parts if isinstance(part, str)]
    has_images = any(isinstance(part, Image) for part in turn.parts)
    parts = turn.parts if has_images else ["\n".join(texts)]
    content = [
        {"type": "image", "image": images[part.sha256]}
        if isinstance(part, Image)
        else {"type": "text", "text": part}
        for part in parts
    ]
    return {"role": turn.role, "content": content}


def decode(image: Image, data: bytes, max_pixels: int | None) -> PILImage.Image:
    """Decode an image, and shrink it to at most ``max_pixels`` if they are given.

    Raises:
        ImageError: If it does not decode.
    """
    try:
        rgb = decoding.decode(data).image
    except ImageError as error:
        raise ImageError(f"image {image.sha256}: {error}") from error
    n_pixels = rgb.width * rgb.height
    if not max_pixels or n_pixels <= max_pixels:
        return rgb
    scale = (max_pixels / n_pixels) ** 0.5
    width, height = max(1, int(rgb.width * scale)), max(1, int(rgb.height * scale))
    return rgb.resize((width, height), PILImage.Resampling.BICUBIC)


def images_of(chat: Sequence[Message]) -> list[PILImage.Image]:
    """Every image of a conversation, in reading order."""
    return [
        part["image"]
        for message in chat
        if not isinstance(message["content"], str)
        for part in message["content"]
        if part["type"] == "image"
    ]


def as_text(message: Message) -> Message:
    """Convert the content to one string, without images."""
    content = message["content"]
    if isinstance(content, str):
        return message
    texts = [part["text"] for part in content if part["type"] == "text"]
    return message | {"content": "".join(texts)}


def with_texts(message: Message, convert: Callable[[str], str]) -> Message:
    """Convert every text of a message."""
    content = message["content"]
    if isinstance(content, str):
        return message | {"content": convert(content)}
    return message | {"content": _with_parts(content, "text", convert)}


def with_images(message: Message, convert: Callable[[PILImage.Image], PILImage.Image]) -> Message:
    """Convert every image of a message."""
    content = message["content"]
    if isinstance(content, str):
        return message
    return message | {"content": _with_parts(content, "image", convert)}


def _with_parts(
    parts: Sequence[dict[str, Any]], kind: str, convert: Callable[[Any], Any]
) -> list[dict[str, Any]]:
    """Convert the parts of a kind."""
    return [part | {kind: convert(part[kind])} if part["type"] == kind else part for part in parts]


def reset_peak_memory(device: str) -> None:
    """Restart the count of peak memory."""
    import torch

    # Resetting is an error where nothing was allocated yet.
    if device.startswith("cuda") and torch.cuda.max_memory_allocated(device):
        torch.cuda.reset_peak_memory_stats(device)


def peak_memory(device: str) -> int | None:
    """Peak bytes of tensors since the reset; None where torch does not count them."""
    import torch

    return torch.cuda.max_memory_allocated(device) if device.startswith("cuda") else None


def free_memory() -> None:
    """Return cached blocks to the device."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    elif torch.backends.mps.is_available():
        torch.mps.empty_cache()


def is_out_of_memory(error: Exception) -> bool:
    """Whether an error means that memory ran out."""
    import torch

    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    # CPU and MPS raise a plain RuntimeError.
    pattern = "out of memory|can't allocate|not enough memory"
    return isinstance(error, RuntimeError) and re.search(pattern, str(error)) is not None
