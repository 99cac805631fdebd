"""Stored images in a form that browsers show upright and unchanged."""

import base64
import io
from functools import lru_cache

from bench_assets.core.images.decoding import decode, decoding_changes, is_plain, read_header
from bench_resources.images.locations import ImageLocation

_UPRIGHT_TYPES = {"JPEG": "image/jpeg", "MPO": "image/jpeg", "PNG": "image/png"}
_UNROTATED_TYPES = {"WEBP": "image/webp"}


@lru_cache(maxsize=32)
def browser_image(place: ImageLocation, digest: str) -> tuple[bytes, str]:
    """Bytes and media type of a stored image; a PNG if browsers would show the original wrongly.

    Raises:
        ImageError: If the store has no such image, or it does not decode.
    """
    data = place.read(digest)
    kind = read_header(data).format
    if kind in _UPRIGHT_TYPES and is_plain(data):
        return data, _UPRIGHT_TYPES[kind]
    changes = decoding_changes(data)
    if (kind == "JPEG" and changes <= {"turned"}) or (kind in _UNROTATED_TYPES and not changes):
        return data, {**_UPRIGHT_TYPES, **_UNROTATED_TYPES}[kind]  # browsers turn it too
    png = io.BytesIO()
    decode(data).image.save(png, "PNG", compress_level=1)
    return png.getvalue(), "image/png"


def data_uri(place: ImageLocation, digest: str) -> str:
    """An image as ``browser_image`` has it, as a data URI; raises as it."""
    data, kind = browser_image(place, digest)
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"
