"""Images of a few known pixels, written in every way that a decoder may meet."""

import io
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image

from bench_assets.core.images.decoding import decode

CORNERS = ((255, 0, 0), (0, 255, 0), (0, 0, 255), (0, 0, 0), (255, 255, 0), (0, 255, 255))
"""Red, green, blue / black, yellow, cyan: no turn of it looks like another."""


def saved(image: Image.Image, image_format: str = "PNG", **options: Any) -> bytes:
    data = io.BytesIO()
    image.save(data, image_format, **options)
    return data.getvalue()


def plain_png(colour: str = "red", size: tuple[int, int] = (8, 6)) -> bytes:
    return saved(Image.new("RGB", size, colour))


def corners() -> Image.Image:
    return Image.fromarray(np.array(CORNERS, np.uint8).reshape(2, 3, 3))


def numbers(values: Sequence[float], dtype: Any, image_format: str = "TIFF") -> bytes:
    """One row of grey pixels."""
    return saved(Image.fromarray(np.array([values], dtype)), image_format)


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(
    width: int,
    height: int,
    depth: int,
    colour_type: int,
    rows: Sequence[bytes],
    *,
    before: bytes = b"",
    after: bytes = b"",
) -> bytes:
    """A PNG by hand.

    Args:
        rows: The bytes of each row.
        before: Chunks before the pixels.
        after: Chunks after them.
    """
    header = struct.pack(">IIBBBBB", width, height, depth, colour_type, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + before
        + chunk(b"IDAT", pixels)
        + after
        + chunk(b"IEND", b"")
    )


def tiff(width: int, bits: int, levels: bytes, *, kind: int = 1, order: str = "<") -> bytes:
    """A TIFF of one row of grey by hand.

    Args:
        levels: The bytes of the row.
        kind: 1 for numbers without a sign, 2 for those with one.
        order: "<" if the lower byte comes first, else ">".
    """
    tags = {256: width, 257: 1, 258: bits, 259: 1, 262: 1, 273: 0, 277: 1, 278: 1}
    tags |= {279: len(levels), 339: kind}
    tags[273] = 8 + 2 + 12 * len(tags) + 4  # after the header and this list
    entries = (struct.pack(f"{order}HHIHxx", tag, 3, 1, value) for tag, value in tags.items())
    header = (b"II" if order == "<" else b"MM") + struct.pack(f"{order}HI", 42, 8)
    listed = struct.pack(f"{order}H", len(tags)) + b"".join(entries)
    return header + listed + bytes(4) + levels


def turned(orientation: int, image_format: str, image: Image.Image | None = None) -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    options = {"lossless": True} if image_format == "WEBP" else {}
    return saved(image or corners(), image_format, exif=exif, **options)


def animated(image_format: str) -> bytes:
    """Red, then blue."""
    first, second = (Image.new("RGB", (4, 3), colour) for colour in ("red", "blue"))
    return saved(first, image_format, save_all=True, append_images=[second], duration=100)


def seen(data: bytes) -> list[list[tuple[int, ...]]]:
    """The pixels that are shown, row by row."""
    return [[tuple(pixel) for pixel in row] for row in np.asarray(decode(data).image).tolist()]
