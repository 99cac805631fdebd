"""Images inside JSON."""

import base64
import io

from bench_assets.core.images.decoding import decode, is_plain
from bench_assets.core.schema.chat import Image
from bench_assets.core.schema.errors import ImageError
from resources.response_cache.engine import ReadImage

_JPEG = b"\xff\xd8"


def encoded(image: Image, read_image: ReadImage) -> tuple[str, str]:
    """Write an image as base64: its very bytes where every server reads them alike, else as PNG.

    Args:
        image: The image.
        read_image: Finds its bytes.

    Returns:
        The media type, and the base64.

    Raises:
        ImageError: If there is no such image, or it does not decode.
    """
    data = read_image(image.sha256)
    try:
        sent = data if is_plain(data) else _as_png(data)
    except ImageError as why:
        raise ImageError(f"image {image.sha256}: {why}") from why
    media = "jpeg" if sent.startswith(_JPEG) else "png"
    return f"image/{media}", base64.b64encode(sent).decode("ascii")


def _as_png(data: bytes) -> bytes:
    written = io.BytesIO()
    decode(data).image.save(written, "PNG")
    return written.getvalue()
