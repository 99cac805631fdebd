"""The one function that decodes a picture, for whoever looks at it: models, servers, encoders, us.

A picture is shown as a person sees it in a browser: upright (all eight orientations of EXIF and
XMP), its first frame, in RGB with 8 bits (``pixels``).
"""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

from PIL import ExifTags, Image, ImageChops, UnidentifiedImageError

from bench_assets.core.errors import ImageError
from bench_assets.core.pixels import has_alpha, is_wide, raw_mode, to_rgb

Change: TypeAlias = Literal["turned", "laid on white", "scaled", "first frame", "inks"]

VERSION = 1
"""Of what is shown: raised with whatever changes a pixel."""

MAX_PIXELS = 100_000_000
FIRST_FRAME = "only its first frame is shown"

_PNG = b"\x89PNG\r\n\x1a\n"
_SERVED = ("JPEG", "MPO", "PNG")  # an MPO is a JPEG with further ones behind it, which nobody shows
_WITH_FRAMES = ("GIF", "PNG", "WEBP", "TIFF", "AVIF")
_COMMON = ("JPEG", "PNG", "GIF", "BMP")
_FORMATS = (  # those that Pillow decodes by itself; for others it starts programs
    *("JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF", "MPO", "JPEG2000", "AVIF", "PPM", "ICO"),
    *("ICNS", "PSD", "QOI", "SGI", "PCX", "DIB", "TGA"),
)
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A picture as it is shown, and what it was."""

    picture: Image.Image
    """RGB, upright."""
    format: str
    """As Pillow names it."""
    width: int
    """px, as written: before it was turned."""
    height: int
    changes: frozenset[Change]
    """Where ``picture`` differs from what a plain conversion to RGB shows."""


def decode(data: bytes, max_pixels: int = MAX_PIXELS) -> Decoded:
    """Decode a picture: upright, the first frame, on white, in RGB with 8 bits.

    Raises:
        ImageError: If it does not decode, or has more pixels than allowed; the caller knows which
            picture it is.
    """
    with _opened(data, max_pixels) as image:
        (width, height), written = image.size, raw_mode(image)
        changes, turn = _announced(image, data), _orientation(image, data)
        doubtful = has_alpha(image) or is_wide(image)
        picture = to_rgb(image, written)
        if doubtful and not _same(picture, image):
            changes |= {"scaled" if is_wide(image) else "laid on white"}
        if turn in _TURNS and image.format != "TIFF":  # which Pillow has turned by now
            picture = picture.transpose(_TURNS[turn])
        return Decoded(
            picture=picture,
            format=str(image.format),
            width=width,
            height=height,
            changes=changes,
        )


class Header(NamedTuple):
    """What a picture says of itself before it is decoded."""

    format: str  # as Pillow names it
    width: int  # px, as written
    height: int


def header_of(data: bytes, max_pixels: int = MAX_PIXELS) -> Header:
    """Read a picture's header.

    Raises:
        ImageError: If it has none, or more pixels than allowed.
    """
    with _opened(data, max_pixels) as image:
        return Header(str(image.format), *image.size)


def changes_of(data: bytes, max_pixels: int = MAX_PIXELS) -> frozenset[Change]:
    """What ``decode`` changes, from the header alone where that says it.

    Raises:
        ImageError: As ``decode``.
    """
    with _opened(data, max_pixels) as image:
        if not (has_alpha(image) or is_wide(image)):
            return _announced(image, data)
    return decode(data, max_pixels).changes


def is_plain(data: bytes, max_pixels: int = MAX_PIXELS) -> bool:
    """Whether every reader shows a picture alike, from its header.

    That is a JPEG or a PNG of 8 bits in RGB or grey, without alpha, upright, of one frame.

    Raises:
        ImageError: As ``decode``.
    """
    with _opened(data, max_pixels) as image:
        alike = image.format in _SERVED and image.mode in ("L", "RGB") and not has_alpha(image)
        return alike and raw_mode(image) in ("L", "RGB") and not _announced(image, data)


@contextmanager
def _opened(data: bytes, max_pixels: int) -> Iterator[Image.Image]:
    """Open a picture; whatever goes wrong with it, in here or while it is used, is one error."""
    try:
        with warnings.catch_warnings():
            # Ours is the limit, below; Pillow's own warns about what is allowed here.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = _identified(data)
        with image:
            width, height = image.size
            if width * height > max_pixels:
                raise ImageError(f"{width} x {height} px, more than the {max_pixels} px allowed")
            if not width * height:
                raise ImageError(f"{width} x {height} px: nothing to see")
            yield image
    except ImageError:
        raise
    except Image.DecompressionBombError as why:
        raise ImageError(f"more than the {max_pixels} px allowed") from why
    except UnidentifiedImageError as why:
        raise ImageError("not a picture in any known format") from why
    except Exception as why:  # Pillow raises whatever a forged file makes it
        said = str(why) or type(why).__name__
        raise ImageError(f"does not decode: {said}") from why


def _identified(data: bytes) -> Image.Image:
    """Find out the format; what decodes the rarer ones takes 7 MB, and is loaded at the first."""
    try:
        return Image.open(io.BytesIO(data), formats=_COMMON)
    except UnidentifiedImageError:
        return Image.open(io.BytesIO(data), formats=_formats())


@cache
def _formats() -> tuple[str, ...]:
    Image.init()
    return tuple(name for name in _FORMATS if name in Image.OPEN)


def _announced(image: Image.Image, data: bytes) -> frozenset[Change]:
    """What the header says that a plain conversion would not heed."""
    changes: set[Change] = {"turned"} if _orientation(image, data) in _TURNS else set()
    if image.format in _WITH_FRAMES and getattr(image, "is_animated", False):
        changes.add("first frame")
    if image.mode in ("CMYK", "LAB"):
        changes.add("inks")
    return frozenset(changes)


def _orientation(image: Image.Image, data: bytes) -> object:
    """EXIF's number of how a picture is turned; 1 if it is not, or EXIF is broken."""
    if image.format == "PNG" and b"eXIf" in _chunks(data):
        image.load()  # it may stand behind the pixels
    try:
        return Image.Image.getexif(image).get(ExifTags.Base.Orientation, 1)
    except Exception:  # noqa: BLE001 - EXIF is read as a TIFF, which fails in as many ways
        return 1


def _chunks(png: bytes) -> Iterator[bytes]:
    """The names of a PNG's chunks, in order."""
    at = len(_PNG)
    while name := png[at + 4 : at + 8]:
        yield name
        at += 12 + int.from_bytes(png[at : at + 4])


def _same(picture: Image.Image, image: Image.Image) -> bool:
    """Whether a plain conversion shows the same."""
    image.info.pop("transparency", None)  # which it does not heed, but complains of
    try:
        plain = image.convert("RGB")
    except ValueError:
        return False
    return plain.size == picture.size and not ImageChops.difference(plain, picture).getbbox()
