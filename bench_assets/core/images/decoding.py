"""Image decoding: one function for models, servers, encoders and previews.

Images are decoded as browsers show them: upright (all eight orientations of EXIF and XMP), first
frame, 8-bit RGB. Conversion to 8-bit RGB:

* Alpha, and a transparent colour, are composited on white, as browsers show them.
* 16-bit integers range from black (0) to white (65535, or 4095 for files of 12 bits).
* 32-bit integers and floating-point numbers have no defined white: white is the least of 1
  (floating-point only), 255, 65535 and 4294967295 that no pixel exceeds; negative values are black.
* CMYK is taken as uncalibrated, CIE L*a*b* as of D50; embedded profiles are ignored.
"""

import io
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image, ImageChops, ImageOps, UnidentifiedImageError

from bench_assets.core.images.completeness import (
    JPEG_END,
    append_end_marker,
    decode_at_half_size,
    find_defect,
    jpeg_layout,
)
from bench_assets.core.schema.errors import ImageError

_Numbers: TypeAlias = NDArray[Any]

_WIDE = ("I", "F")  # modes, and the beginnings of modes, with more than 8 bits
_WHITES = (255, 2**16 - 1, 2**32 - 1)
_WHITE_OF = {"I;12": 2**12 - 1, "I;16S": 2**15 - 1, "I;16BS": 2**15 - 1, "I;16B": 2**16 - 1}
_STEPS = {"L;2": 85, "L;4": 17}  # between two levels, after Pillow scaled them to 8 bits
_PHOTOMETRIC_TAG, _WHITE_IS_ZERO = 262, 0  # TIFF's tag PhotometricInterpretation; WhiteIsZero


def is_wide(image: Image.Image) -> bool:
    """Whether an image has one channel of more than 8 bits."""
    return image.mode.startswith(_WIDE)


def has_alpha(image: Image.Image) -> bool:
    """Whether an image may be partly transparent, by its header."""
    return image.has_transparency_data


def to_rgb(image: Image.Image, written: str) -> Image.Image:
    """Convert an opened image to RGB.

    Args:
        image: The image as opened by Pillow; its transparency may be modified.
        written: Its ``raw_mode`` when it was opened.

    Raises:
        ImageError: If a pixel is NaN or infinite.
    """
    if is_wide(image):
        return _wide_to_rgb(image, written)
    if has_alpha(image):
        return _alpha_to_rgb(image, written)
    return _lab_to_rgb(image) if image.mode == "LAB" else image.convert("RGB")


def to_upright_rgb(image: Image.Image) -> Image.Image:
    """RGB of an open image, upright and on white, as ``decode`` makes it of a file."""
    written = raw_mode(image)
    return to_rgb(ImageOps.exif_transpose(image), written)


def raw_mode(image: Image.Image) -> str:
    """Pillow's raw mode of the pixels; "" once they are read, or if unknown."""
    tile = next(iter(getattr(image, "tile", ())), None)
    args = tile.args if tile else ""
    first = args[0] if isinstance(args, tuple) and args else args
    return first if isinstance(first, str) else ""


def _wide_to_rgb(image: Image.Image, written: str) -> Image.Image:
    clear = image.info.get("transparency")
    numbers: _Numbers = np.asarray(image)
    if written.startswith("I;32") and not written.endswith("S"):
        numbers = numbers.view(np.uint32)  # Pillow has no unsigned mode
    if numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
        raise ImageError("has infinite or NaN pixels")
    white = _white(image, written, numbers)
    levels = (numbers.astype(np.float64) / white).clip(0) * 255
    if _tag(image, _PHOTOMETRIC_TAG) == _WHITE_IS_ZERO:
        levels = 255 - levels
    if isinstance(clear, int):
        levels = np.where(numbers == clear, 255, levels)
    return Image.fromarray(np.floor(levels + 0.5).astype(np.uint8)).convert("RGB")


def _white(image: Image.Image, written: str, numbers: _Numbers) -> float:
    if written in _WHITE_OF:
        return _WHITE_OF[written]
    if image.mode != "F" and (image.mode != "I" or image.format == "PPM"):
        return _WHITES[1]
    most = numbers.max()
    whites = (1, *_WHITES) if image.mode == "F" else _WHITES
    return next((white for white in whites if most <= white), float(most))


def _tag(image: Image.Image, number: int) -> object:
    return getattr(image, "tag_v2", {}).get(number)


def _alpha_to_rgb(image: Image.Image, written: str) -> Image.Image:
    clear = image.info.get("transparency")
    if isinstance(clear, int) and written in _STEPS:
        image.info["transparency"] = clear * _STEPS[written]
    if isinstance(clear, tuple) and written.endswith(";16B"):
        image.info["transparency"] = tuple(level >> 8 for level in clear)
    rgba = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", rgba.size, "white"), rgba).convert("RGB")


def _lab_to_rgb(image: Image.Image) -> Image.Image:
    from PIL import ImageCms

    lab, srgb = (ImageCms.createProfile(name) for name in ("LAB", "sRGB"))
    exactly = ImageCms.Flags.NOOPTIMIZE  # else white is (254, 255, 254)
    return ImageCms.buildTransform(lab, srgb, "LAB", "RGB", flags=exactly).apply(image)


Change: TypeAlias = Literal["turned", "laid on white", "scaled", "first frame", "inks", "end added"]

DECODER_VERSION = 1
"""Version of the decoder, raised by every change that changes a pixel."""

MAX_PIXELS = 100_000_000
FIRST_FRAME = "only its first frame is shown"
END_ADDED = "its file lacks the end marker"
NOTES: Mapping[Change, str] = {"first frame": FIRST_FRAME, "end added": END_ADDED}
"""Changes that are noted on a response."""

_JPEG_LIMIT_FACTOR = 1.75  # times the pixel limit: up to here, a JPEG is decoded at half its size

_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG, _JPEG_START = ("JPEG", "MPO"), b"\xff\xd8"
_PLAIN_FORMATS = ("JPEG", "MPO", "PNG")  # an MPO is a JPEG with further images, which are not shown
_ANIMATED_FORMATS = ("GIF", "PNG", "WEBP", "TIFF", "AVIF")
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
_FIRST_SIDEWAYS = 5  # from this orientation on, width and height are swapped


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedImage:
    """A decoded image, with facts about the original."""

    image: Image.Image
    """RGB, upright."""
    format: str
    """As Pillow names it."""
    width: int
    """px, as stored: before rotation."""
    height: int
    orientation: int
    """EXIF's, 1 to 8; 1 is upright."""
    changes: frozenset[Change]
    """Where ``image`` differs from what a plain conversion to RGB shows."""


def decode(data: bytes, max_pixels: int = MAX_PIXELS, *, exact: bool = False) -> DecodedImage:
    """Decode an image: upright, the first frame, on white, in RGB with 8 bits.

    A JPEG that lacks nothing but its end marker is complete. One of up to 1.75 times the pixel
    limit is decoded at half its width and height, unless ``exact``.

    Raises:
        ImageError: If it does not decode, or has more pixels than allowed; the message does not
            name the image.
    """
    with _opened(data, max_pixels) as image:
        written, turn = raw_mode(image), _orientation(image, data)
        (width, height), changes = _stored_size(image, turn), _header_changes(image, data)
        if width * height > max_pixels:
            if exact:
                raise ImageError(_size_message(width, height, max_pixels))
            decode_at_half_size(image)
        doubtful = has_alpha(image) or is_wide(image)
        rgb = to_rgb(image, written)
        if doubtful and not _same(rgb, image):
            changes |= {"scaled" if is_wide(image) else "laid on white"}
        if "end added" in changes and (defect := find_defect(data, "JPEG", rgb)):
            raise ImageError(defect)
        if turn in _TRANSPOSITIONS and image.format != "TIFF":  # Pillow has already turned a TIFF
            rgb = rgb.transpose(_TRANSPOSITIONS[turn])
        return DecodedImage(
            image=rgb,
            format=str(image.format),
            width=width,
            height=height,
            orientation=turn,
            changes=changes,
        )


class Header(NamedTuple):
    """Facts from an image's header."""

    format: str  # as Pillow names it
    width: int  # px, as stored
    height: int
    orientation: int  # EXIF's, 1 to 8


def read_header(data: bytes, max_pixels: int = MAX_PIXELS) -> Header:
    """Read an image's header.

    Raises:
        ImageError: If it has none, or more pixels than allowed.
    """
    with _opened(data, max_pixels) as image:
        turn = _orientation(image, data)
        return Header(str(image.format), *_stored_size(image, turn), turn)


def decoding_changes(data: bytes, max_pixels: int = MAX_PIXELS) -> frozenset[Change]:
    """Changes that ``decode`` makes, from the header alone if possible.

    Raises:
        ImageError: As ``decode``.
    """
    with _opened(data, max_pixels) as image:
        if not (has_alpha(image) or is_wide(image)):
            return _header_changes(image, data)
    return decode(data, max_pixels).changes


def is_plain(data: bytes, max_pixels: int = MAX_PIXELS) -> bool:
    """Whether all decoders agree on an image, from its header.

    That is an 8-bit JPEG or PNG in RGB or grey, without alpha, upright, with one frame.

    Raises:
        ImageError: As ``decode``.
    """
    with _opened(data, max_pixels) as image:
        plain_format = (
            image.format in _PLAIN_FORMATS and image.mode in ("L", "RGB") and not has_alpha(image)
        )
        return plain_format and raw_mode(image) in ("L", "RGB") and not _header_changes(image, data)


def to_plain_format(data: bytes) -> tuple[str, bytes]:
    """Media type and bytes of an image that all decoders agree on: its own if plain, else a PNG.

    Raises:
        ImageError: As ``decode``.
    """
    if is_plain(data):
        return f"image/{'jpeg' if data.startswith(_JPEG_START) else 'png'}", data
    written = io.BytesIO()
    decode(data).image.save(written, "PNG")
    return "image/png", written.getvalue()


@contextmanager
def _opened(data: bytes, max_pixels: int) -> Iterator[Image.Image]:
    """Open an image; any failure while it is used becomes an ImageError."""
    try:
        with warnings.catch_warnings():
            # Pillow's limit is lower than the one checked below.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = _identified(data)
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


def _identified(data: bytes) -> Image.Image:
    """Identify the format; plugins for rarer ones take 7 MB, and are loaded on demand."""
    if _lacks_end(data):
        data = append_end_marker(data)
    try:
        return Image.open(io.BytesIO(data), formats=_COMMON)
    except UnidentifiedImageError:
        return Image.open(io.BytesIO(data), formats=_formats())


@cache
def _formats() -> tuple[str, ...]:
    Image.init()
    return tuple(name for name in _FORMATS if name in Image.OPEN)


def _lacks_end(data: bytes) -> bool:
    """Whether it is a JPEG whose end marker, or the last byte of it, is missing."""
    if data.endswith(JPEG_END):
        return False
    layout = jpeg_layout(data)
    return layout is not None and layout.end is None


def _header_changes(image: Image.Image, data: bytes) -> frozenset[Change]:
    """The changes that the header announces."""
    changes: set[Change] = {"turned"} if _orientation(image, data) in _TRANSPOSITIONS else set()
    if image.format in _JPEG and _lacks_end(data):
        changes.add("end added")
    if image.format in _ANIMATED_FORMATS and getattr(image, "is_animated", False):
        changes.add("first frame")
    if image.mode in ("CMYK", "LAB"):
        changes.add("inks")
    return frozenset(changes)


def _stored_size(image: Image.Image, turn: int) -> tuple[int, int]:
    """Width and height before rotation; Pillow gives a TIFF's after it."""
    width, height = image.size
    return (
        (height, width) if image.format == "TIFF" and turn >= _FIRST_SIDEWAYS else (width, height)
    )


def _orientation(image: Image.Image, data: bytes) -> int:
    """EXIF orientation of an image; 1 if there is none, or EXIF is invalid."""
    if image.format == "PNG" and b"eXIf" in _chunks(data):
        image.load()  # the chunk may follow the pixels
    try:
        turn = Image.Image.getexif(image).get(ExifTags.Base.Orientation, 1)
    except Exception:  # noqa: BLE001 - Pillow raises anything on invalid EXIF
        return 1
    return turn if turn in _TRANSPOSITIONS else 1


def _chunks(png: bytes) -> Iterator[bytes]:
    """The names of a PNG's chunks, in order."""
    at = len(_PNG)
    while name := png[at + 4 : at + 8]:
        yield name
        at += 12 + int.from_bytes(png[at : at + 4])


def _same(rgb: Image.Image, image: Image.Image) -> bool:
    """Whether a plain conversion to RGB gives the same pixels."""
    image.info.pop("transparency", None)  # convert() would ignore it, with a warning
    try:
        plain = image.convert("RGB")
    except ValueError:
        return False
    return plain.size == rgb.size and not ImageChops.difference(plain, rgb).getbbox()
