"""Image decoding: one function for models, servers, encoders and previews.

Images are decoded as browsers show them: upright (all eight orientations of EXIF and XMP), first
frame, 8-bit RGB. Conversion to 8-bit RGB:

* Alpha, and a transparent colour, are composited on white, as browsers show them.
* 16-bit integers range from black (0) to white (65535).
* 32-bit integers and floating-point numbers have no defined white, and are refused.
* CMYK is taken as uncalibrated; embedded profiles are ignored.
"""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from PIL import ExifTags, Image, ImageFile, ImageOps, UnidentifiedImageError

from bench_assets.core.schema.errors import ImageError

_WIDE = ("I", "F")  # modes, and the beginnings of modes, with more than 8 bits
_16_BITS = ("I;16", "I;16B")  # Pillow's raw modes of PNG and unsigned TIFF
_16_BIT_FORMATS = {("PPM", "I"), ("JPEG2000", "I;16")}  # formats and modes without such a raw mode
_WHITE = 2**16 - 1  # of 16-bit channels


def is_wide(image: Image.Image) -> bool:
    """Whether an image has one channel of more than 8 bits."""
    return image.mode.startswith(_WIDE)


def to_rgb(image: Image.Image, stored_mode: str) -> Image.Image:
    """Convert an opened image to RGB.

    Args:
        image: The image as opened by Pillow; its transparency may be modified.
        stored_mode: Its ``raw_mode`` when it was opened.

    Raises:
        ImageError: If white is not defined for its pixels, such as those of 32 bits.
    """
    if is_wide(image):
        return _wide_to_rgb(image, stored_mode)
    if image.has_transparency_data:
        return _alpha_to_rgb(image, stored_mode)
    return image.convert("RGB")


def to_upright_rgb(image: Image.Image) -> Image.Image:
    """Convert an open image to RGB, upright and on white, as ``decode`` does with a file."""
    stored_mode = raw_mode(image)
    return to_rgb(ImageOps.exif_transpose(image), stored_mode)


def raw_mode(image: Image.Image) -> str:
    """Pillow's raw mode of the pixels; "" once they are read, or if unknown."""
    if not isinstance(image, ImageFile.ImageFile) or not image.tile:
        return ""
    args = image.tile[0].args
    mode = args[0] if isinstance(args, tuple) and args else args
    return mode if isinstance(mode, str) else ""


def _wide_to_rgb(image: Image.Image, stored_mode: str) -> Image.Image:
    """Convert 16-bit integers; a transparent level becomes white."""
    if stored_mode not in _16_BITS and (image.format, image.mode) not in _16_BIT_FORMATS:
        raise ImageError(
            f"has pixels without a defined white ({stored_mode or image.mode})."
            " Convert it to 8 or 16 bits per channel"
        )
    transparent_level = image.info.get("transparency")
    wide_levels = np.asarray(image)
    levels = wide_levels.astype(np.float64) / _WHITE * 255
    if isinstance(transparent_level, int):
        levels = np.where(wide_levels == transparent_level, 255, levels)
    return Image.fromarray(np.floor(levels + 0.5).astype(np.uint8)).convert("RGB")


def _alpha_to_rgb(image: Image.Image, stored_mode: str) -> Image.Image:
    """Composite on white; modifies a transparent colour of 16 bits, as Pillow reads 8 bits."""
    transparent_colour = image.info.get("transparency")
    if isinstance(transparent_colour, tuple) and stored_mode.endswith(";16B"):
        image.info["transparency"] = tuple(level >> 8 for level in transparent_colour)
    rgba = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", rgba.size, "white"), rgba).convert("RGB")


MAX_PIXELS = 100_000_000  # pixels of an image, at most
_JPEG_LIMIT_FACTOR = 1.75  # pixel limits, up to which a JPEG is decoded at half its size

_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG, _JPEG_START = ("JPEG", "MPO"), b"\xff\xd8"
_PLAIN_FORMATS = ("JPEG", "MPO", "PNG")  # an MPO is a JPEG with further images, which are not shown
_COMMON = ("JPEG", "PNG", "GIF", "BMP")
_FORMATS = (  # those that Pillow decodes itself; for others it starts external programs
    *("JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF", "MPO", "JPEG2000", "AVIF", "PPM", "ICO"),
    *("ICNS", "PSD", "QOI", "SGI", "PCX", "DIB", "TGA"),
)
_TRANSPOSITIONS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_FIRST_SIDEWAYS = 5  # EXIF orientation, from which on width and height are swapped


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedImage:
    """A decoded image, with facts about the original."""

    image: Image.Image  # RGB, upright
    format: str  # as Pillow names it
    width: int  # px, as stored: before rotation
    height: int
    orientation: int  # EXIF's, 1 to 8; 1 is upright


def decode(data: bytes, max_pixels: int = MAX_PIXELS, *, exact: bool = False) -> DecodedImage:
    """Decode an image: upright, the first frame, on white, in RGB with 8 bits.

    A JPEG of more pixels than the limit, up to 1.75 times as many, is decoded at half its width and
    height, or refused if ``exact``.

    Raises:
        ImageError: If it does not decode, or has more pixels than allowed; the message does not
            name the image.
    """
    with _open(data, max_pixels) as image:
        stored_mode, orientation = raw_mode(image), _read_orientation(image, data)
        width, height = _stored_size(image, orientation)
        if width * height > max_pixels:
            if exact:
                raise ImageError(_size_message(width, height, max_pixels))
            image.draft(None, (image.width // 2, image.height // 2))
        rgb = to_rgb(image, stored_mode)
        is_turned = image.format == "TIFF"  # by Pillow, when the pixels are read
        if orientation in _TRANSPOSITIONS and not is_turned:
            rgb = rgb.transpose(_TRANSPOSITIONS[orientation])
        image_format = str(image.format)
        return DecodedImage(
            image=rgb, format=image_format, width=width, height=height, orientation=orientation
        )


class Header(NamedTuple):
    """Facts from an image's header."""

    width: int  # px, as stored
    height: int
    orientation: int  # EXIF's, 1 to 8


def read_header(data: bytes) -> Header:
    """Read an image's header.

    Raises:
        ImageError: If it has none, or more than ``MAX_PIXELS``.
    """
    with _open(data, MAX_PIXELS) as image:
        orientation = _read_orientation(image, data)
        width, height = _stored_size(image, orientation)
        return Header(width=width, height=height, orientation=orientation)


def is_plain(data: bytes, max_pixels: int = MAX_PIXELS, *, in_browser: bool = False) -> bool:
    """Whether all decoders agree on an image, from its header.

    That is an 8-bit JPEG or PNG in RGB or grey, without alpha, upright, with one frame. With
    ``in_browser``, a JPEG need not be upright, because browsers turn it as ``decode`` does.

    Raises:
        ImageError: If it has no header, or more pixels than allowed.
    """
    with _open(data, max_pixels) as image:
        if image.format not in _PLAIN_FORMATS or image.has_transparency_data:
            return False
        has_8_bits = image.mode in ("L", "RGB") and raw_mode(image) in ("L", "RGB")
        is_turned_by_browser = in_browser and image.format in _JPEG
        is_upright = is_turned_by_browser or _read_orientation(image, data) == 1
        is_still = image.format in _JPEG or not getattr(image, "is_animated", False)
        return is_upright and is_still and has_8_bits


def to_plain_format(data: bytes) -> tuple[str, bytes]:
    """Media type and bytes of an image that all decoders agree on: its own if plain, else a PNG.

    Raises:
        ImageError: As ``decode``.
    """
    if is_plain(data):
        return "image/jpeg" if data.startswith(_JPEG_START) else "image/png", data
    file = io.BytesIO()
    decode(data).image.save(file, "PNG")
    return "image/png", file.getvalue()


@contextmanager
def _open(data: bytes, max_pixels: int) -> Iterator[Image.Image]:
    """Open an image of an allowed size; any failure while it is used becomes an ImageError."""
    try:
        with warnings.catch_warnings():
            # Pillow's limit is lower than the one checked below.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = _identify(data)
        with image:
            width, height = image.size
            allowed = max_pixels * (_JPEG_LIMIT_FACTOR if image.format in _JPEG else 1)
            if width * height > allowed:
                raise ImageError(_size_message(width, height, max_pixels))
            if not width * height:
                raise ImageError(f"{width} x {height} px: empty image")
            yield image
    except ImageError:
        raise
    except Image.DecompressionBombError as error:
        raise ImageError(f"more than the {max_pixels} px allowed") from error
    except UnidentifiedImageError as error:
        raise ImageError("not an image in any known format") from error
    except Exception as error:  # Pillow raises whatever a forged file makes it
        message = str(error) or type(error).__name__
        raise ImageError(f"does not decode: {message}") from error


def _size_message(width: int, height: int, max_pixels: int) -> str:
    return f"{width} x {height} px, more than the {max_pixels} px allowed"


def _identify(data: bytes) -> Image.Image:
    """Open by the format; plugins for rarer ones take 7 MB, and are loaded on demand."""
    try:
        return Image.open(io.BytesIO(data), formats=_COMMON)
    except UnidentifiedImageError:
        return Image.open(io.BytesIO(data), formats=_available_formats())


@cache
def _available_formats() -> tuple[str, ...]:
    """The formats of which this build of Pillow has the plugin."""
    Image.init()
    return tuple(name for name in _FORMATS if name in Image.OPEN)


def _stored_size(image: Image.Image, orientation: int) -> tuple[int, int]:
    """Width and height before rotation; Pillow gives a TIFF's after it."""
    width, height = image.size
    is_swapped = image.format == "TIFF" and orientation >= _FIRST_SIDEWAYS
    return (height, width) if is_swapped else (width, height)


def _read_orientation(image: Image.Image, data: bytes) -> int:
    """EXIF orientation of an image; 1 if there is none, or EXIF is invalid."""
    if image.format == "PNG" and b"eXIf" in _chunk_names(data):
        image.load()  # the chunk may follow the pixels
    try:
        # Not the method of PNG, which reads the pixels.
        orientation = Image.Image.getexif(image).get(ExifTags.Base.Orientation, 1)
    except Exception:  # noqa: BLE001 - Pillow raises anything on invalid EXIF
        return 1
    return orientation if orientation in _TRANSPOSITIONS else 1


def _chunk_names(png: bytes) -> Iterator[bytes]:
    """The names of a PNG's chunks, in order."""
    start = len(_PNG)
    while name := png[start + 4 : start + 8]:
        yield name
        length = int.from_bytes(png[start : start + 4])
        start += 12 + length  # 4 bytes each: length, name and checksum
