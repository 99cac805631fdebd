"""Pictures as browsers are sent them: what a person sees is what a model is shown."""

import io
from functools import lru_cache

from bench_assets.core.pictures import changes_of, decode, header_of, is_plain
from resources.pictures.places import PicturePlace

_AS_THEY_ARE = {"JPEG": "image/jpeg", "MPO": "image/jpeg", "PNG": "image/png"}
_LIKEWISE = {"WEBP": "image/webp"}


@lru_cache(maxsize=32)
def as_sent(place: PicturePlace, digest: str) -> tuple[bytes, str]:
    """Read a picture of the store; what browsers show otherwise is sent decoded, as a PNG.

    Args:
        place: Of the store.
        digest: Of the picture.

    Returns:
        Bytes, and their media type.

    Raises:
        ImageError: If the store has no such picture, or it does not decode any more.
    """
    data = place.read(digest)
    kind = header_of(data).format
    if kind in _AS_THEY_ARE and is_plain(data):
        return data, _AS_THEY_ARE[kind]
    changes = changes_of(data)
    if (kind == "JPEG" and changes <= {"turned"}) or (kind in _LIKEWISE and not changes):
        return data, {**_AS_THEY_ARE, **_LIKEWISE}[kind]  # browsers turn it too
    png = io.BytesIO()
    decode(data).picture.save(png, "PNG", compress_level=1)
    return png.getvalue(), "image/png"
