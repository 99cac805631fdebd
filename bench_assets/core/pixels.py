"""What the pixels of a picture are in RGB with 8 bits, whatever they were written in.

* Alpha, and a colour that is declared transparent, are laid on white, as a browser shows them.
* Whole numbers of 16 bits go from black (0) to white (65535, or 4095 where the file says 12 bits).
* Whole numbers of 32 bits and floating-point numbers have no white of their own: white is the least
  of 1 (floating-point only), 255, 65535 and 4294967295 that no pixel exceeds; below 0 is black.
* CMYK is taken as uncalibrated, CIE L*a*b* as of D50; no profile that comes along is heeded.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from bench_assets.core.errors import ImageError

_Numbers: TypeAlias = NDArray[Any]

_WIDE = ("I", "F")  # modes, and the beginnings of modes, with more than 8 bits
_WHITES = (255, 2**16 - 1, 2**32 - 1)
_WHITE_OF = {"I;12": 2**12 - 1, "I;16S": 2**15 - 1, "I;16BS": 2**15 - 1, "I;16B": 2**16 - 1}
_STEPS = {"L;2": 85, "L;4": 17}  # from one level to the next, after Pillow spread them
_LIGHTNESS_FIRST, _WHITE_IS_ZERO = 262, 0  # TIFF's tag of what 0 means, and "white"


def is_wide(picture: Image.Image) -> bool:
    """Whether a picture has one channel of more than 8 bits."""
    return picture.mode.startswith(_WIDE)


def has_alpha(picture: Image.Image) -> bool:
    """Whether something of a picture may be transparent, as far as its header says."""
    return picture.has_transparency_data


def to_rgb(picture: Image.Image, written: str) -> Image.Image:
    """Write the pixels of an opened picture as RGB.

    Args:
        picture: As Pillow opened it; what it says of transparency may be changed.
        written: Its ``raw_mode`` when it was opened.

    Raises:
        ImageError: If a pixel is no number.
    """
    if is_wide(picture):
        return _of_wide(picture, written)
    if has_alpha(picture):
        return _on_white(picture, written)
    return _of_lab(picture) if picture.mode == "LAB" else picture.convert("RGB")


def raw_mode(picture: Image.Image) -> str:
    """How the pixels lie in the file, in Pillow's words; "" once they are read, or not known."""
    tile = next(iter(getattr(picture, "tile", ())), None)
    args = tile.args if tile else ""
    first = args[0] if isinstance(args, tuple) and args else args
    return first if isinstance(first, str) else ""


def _of_wide(picture: Image.Image, written: str) -> Image.Image:
    clear = picture.info.get("transparency")
    numbers: _Numbers = np.asarray(picture)
    if written.startswith("I;32") and not written.endswith("S"):
        numbers = numbers.view(np.uint32)  # Pillow has no unsigned ones
    if numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
        raise ImageError("has pixels that are no finite numbers")
    white = _white(picture, written, numbers)
    levels = (numbers.astype(np.float64) / white).clip(0) * 255
    if _tag(picture, _LIGHTNESS_FIRST) == _WHITE_IS_ZERO:
        levels = 255 - levels
    if isinstance(clear, int):
        levels = np.where(numbers == clear, 255, levels)
    return Image.fromarray(np.floor(levels + 0.5).astype(np.uint8)).convert("RGB")


def _white(picture: Image.Image, written: str, numbers: _Numbers) -> float:
    if written in _WHITE_OF:
        return _WHITE_OF[written]
    if picture.mode != "F" and (picture.mode != "I" or picture.format == "PPM"):
        return _WHITES[1]
    most = numbers.max()
    whites = (1, *_WHITES) if picture.mode == "F" else _WHITES
    return next((white for white in whites if most <= white), float(most))


def _tag(picture: Image.Image, number: int) -> object:
    return getattr(picture, "tag_v2", {}).get(number)


def _on_white(picture: Image.Image, written: str) -> Image.Image:
    clear = picture.info.get("transparency")
    if isinstance(clear, int) and written in _STEPS:
        picture.info["transparency"] = clear * _STEPS[written]
    if isinstance(clear, tuple) and written.endswith(";16B"):
        picture.info["transparency"] = tuple(level >> 8 for level in clear)
    seen = picture.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", seen.size, "white"), seen).convert("RGB")


def _of_lab(picture: Image.Image) -> Image.Image:
    from PIL import ImageCms

    lab, srgb = (ImageCms.createProfile(name) for name in ("LAB", "sRGB"))
    exactly = ImageCms.Flags.NOOPTIMIZE  # else white is (254, 255, 254)
    return ImageCms.buildTransform(lab, srgb, "LAB", "RGB", flags=exactly).apply(picture)
