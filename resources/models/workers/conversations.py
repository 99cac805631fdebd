"""Prompts as conversations with decoded images."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from PIL import Image as PILImage

from bench_assets.core.images import decoding
from bench_assets.core.schema.chat import Image, Turn
from bench_assets.core.schema.errors import ImageError

Message: TypeAlias = dict[str, Any]  # as chat templates take it: role, and content as parts
DecodedImages: TypeAlias = dict[str, PILImage.Image]  # by SHA-256


def message(turn: Turn, images: DecodedImages) -> Message:
    """Write a turn as chat templates take it; only texts become one, as with a server."""
    texts = [part for part in turn.parts if isinstance(part, str)]
    parts = ["\n".join(texts)] if len(texts) == len(turn.parts) else turn.parts
    content = [
        {"type": "image", "image": images[part.sha256]}
        if isinstance(part, Image)
        else {"type": "text", "text": part}
        for part in parts
    ]
    return {"role": turn.role, "content": content}


def decode(image: Image, data: bytes, max_pixels: int | None) -> PILImage.Image:
    """Decode an image, shrunk where it has more pixels than allowed.

    Raises:
        ImageError: If it does not decode.
    """
    try:
        rgb = decoding.decode(data).image
    except ImageError as why:
        raise ImageError(f"image {image.sha256}: {why}") from why
    share = (max_pixels or rgb.width * rgb.height) / (rgb.width * rgb.height)
    if share >= 1:
        return rgb
    width, height = (max(1, int(side * share**0.5)) for side in rgb.size)
    return rgb.resize((width, height), PILImage.Resampling.BICUBIC)


def images_of(talk: Sequence[Message]) -> list[PILImage.Image]:
    """Every image of a conversation, in reading order."""
    return [
        part["image"]
        for message in talk
        if not isinstance(message["content"], str)
        for part in message["content"]
        if part["type"] == "image"
    ]


def as_text(message: Message) -> Message:
    """Write a turn as one string, without its images."""
    return message | {"content": "".join(_texts(message))}


def with_texts(message: Message, written: Callable[[str], str]) -> Message:
    """Change every text of a turn."""
    content = message["content"]
    if isinstance(content, str):
        return message | {"content": written(content)}
    parts = [
        part | {"text": written(part["text"])} if part["type"] == "text" else part
        for part in content
    ]
    return message | {"content": parts}


def with_images(message: Message, shown: Callable[[PILImage.Image], PILImage.Image]) -> Message:
    """Change every image of a turn."""
    content = message["content"]
    if isinstance(content, str):
        return message
    parts = [
        part | {"image": shown(part["image"])} if part["type"] == "image" else part
        for part in content
    ]
    return message | {"content": parts}


def _texts(message: Message) -> Iterator[str]:
    content = message["content"]
    if isinstance(content, str):
        yield content
    else:
        yield from (part["text"] for part in content if part["type"] == "text")
