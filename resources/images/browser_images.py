"""Stored images in a form that browsers show upright and unchanged."""

import io
from functools import lru_cache

from bench_assets.core.images.decoding import changes_of, decode, header_of, is_plain
from resources.images.locations import ImageLocation

_AS_THEY_ARE = {"JPEG": "image/jpeg", "MPO": "image/jpeg", "PNG": "image/png"}
_LIKEWISE = {"WEBP": "image/webp"}


@lru_cache(maxsize=32)
def as_sent(place: ImageLocation, digest: str) -> tuple[bytes, str]:
    """Bytes and media type of a stored image; a PNG if browsers would show the original wrongly.

    Raises:
        ImageError: If the store has no such image, or it does not decode.
    """
    data = place.read(digest)
    kind = header_of(data).format
    if kind in _AS_THEY_ARE and is_plain(data):
        return data, _AS_THEY_ARE[kind]
    changes = changes_of(data)
    if (kind == "JPEG" and changes <= {"turned"}) or (kind in _LIKEWISE and not changes):
        return data, {**_AS_THEY_ARE, **_LIKEWISE}[kind]  # browsers turn it too
    png = io.BytesIO()
    decode(data).image.save(png, "PNG", compress_level=1)
    return png.getvalue(), "image/png"
