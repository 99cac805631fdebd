"""Pictures inside JSON."""

import base64
import io
import re
from collections.abc import Set

from PIL import Image as Picture

from bench_assets.core.errors import ImageError

_MEDIA_TYPES = {
    rb"\xff\xd8\xff": "jpeg",
    rb"\x89PNG\r\n\x1a\n": "png",
    rb"GIF8": "gif",
    rb"RIFF.{4}WEBP": "webp",
}


def encoded(picture: bytes, formats: Set[str]) -> tuple[str, str]:
    """Write a picture as base64: its very bytes where the server reads the format, else as PNG.

    >>> encoded(b"GIF89a", {"gif"})
    ('image/gif', 'R0lGODlh')

    Args:
        picture: The bytes as they are stored.
        formats: Of JPEG, PNG, GIF and WebP those that the server reads, in small letters.

    Returns:
        The media type, and the base64.

    Raises:
        ImageError: If it has to be converted and does not decode.
    """
    media = next((m for s, m in _MEDIA_TYPES.items() if re.match(s, picture, re.DOTALL)), "")
    kept = media in formats
    sent = picture if kept else _as_png(picture)
    return f"image/{media if kept else 'png'}", base64.b64encode(sent).decode("ascii")


def _as_png(picture: bytes) -> bytes:
    written = io.BytesIO()
    try:
        with Picture.open(io.BytesIO(picture)) as opened:
            opened.convert("RGB").save(written, "PNG")
    except (OSError, ValueError) as why:
        raise ImageError(f"a picture does not decode: {why}") from why
    return written.getvalue()
