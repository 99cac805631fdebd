"""Stored images in a form that browsers show upright and unchanged."""

import base64
import io
from functools import lru_cache

from bench_assets.core.images.decoding import decode, is_plain
from bench_resources.images.locations import ImageLocation

_JPEG_START = b"\xff\xd8"


@lru_cache(maxsize=32)
def browser_image(place: ImageLocation, digest: str) -> tuple[bytes, str]:
    """Bytes and media type of a stored image; a PNG if browsers would show the original wrongly.

    Raises:
        ImageError: If the store has no such image, or it does not decode.
    """
    data = place.read(digest)
    if is_plain(data, in_browser=True):
        return data, "image/jpeg" if data.startswith(_JPEG_START) else "image/png"
    png = io.BytesIO()
    decode(data).image.save(png, "PNG", compress_level=1)
    return png.getvalue(), "image/png"


def data_uri(place: ImageLocation, digest: str) -> str:
    """Encode ``browser_image`` as a data URI; raises as it does."""
    data, media_type = browser_image(place, digest)
    return f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"
