"""Protocol of an API format, and images encoded for JSON."""

import base64
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

from bench_assets.core.images.decoding import to_plain_format
from bench_assets.core.schema.chat import Image, Request, Response, Turn
from bench_assets.core.schema.errors import ImageError
from bench_resources.response_cache.engine import ReadImage


class ApiFormat(Protocol):
    """Encodes the requests of one API, and decodes its responses."""

    response_field: str
    """Field of a body with the responses; a body without it may be an error."""

    @property
    def path(self) -> str:
        """The path after the server's address, such as ``/chat/completions``."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers of every request, without the key."""
        ...

    def to_message(self, turn: Turn) -> dict[str, Any]:
        """Convert one turn of a conversation.

        Raises:
            ImageError: If an image cannot be read, or does not decode.
        """
        ...

    def encode(self, request: Request, messages: Sequence[dict[str, Any]]) -> bytes:
        """Encode a whole request.

        Raises:
            orjson.JSONEncodeError: If a text is not valid Unicode.
        """
        ...

    def decode(self, received: Mapping[str, Any], seconds: float) -> Response:
        """Decode a body with status 200; separate reasoning goes in front of the text.

        Raises:
            NoResponseError: If it is not a valid response.
        """
        ...


@lru_cache(4)  # requests that share an image follow each other
def encode_image(image: Image, read_image: ReadImage) -> tuple[str, str]:
    """Encode an image as base64: as stored where every server decodes it alike, else as PNG.

    Returns:
        The media type, and the base64.

    Raises:
        ImageError: If there is no such image, or it does not decode.
    """
    data = read_image(image.sha256)
    try:
        media_type, encoded = to_plain_format(data)
    except ImageError as error:
        raise ImageError(f"image {image.sha256}: {error}") from error
    return media_type, base64.b64encode(encoded).decode("ascii")
