"""Finds the circles that visual prompts draw on images, and the letters that label them."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import permutations
from typing import Literal, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from bench_assets.core.images.drawing import Point

Pixels: TypeAlias = NDArray[np.uint8]  # height, width, RGB
Ink: TypeAlias = NDArray[np.float32]  # height, width: similarity to the pen's colour, in [0, 1]
Colour: TypeAlias = Literal["red", "white"]

_RADIUS = 10 / 1024  # of a circle, as a share of the image's height (appendix A.1)
_SCALES = (1.0, 0.5, 1.5)  # radii to try, relative to _RADIUS; section 4.3 studies three
_MIN_CONTRAST = 0.45  # least contrast of a circle with its surroundings, of 1
_GLYPH = (24, 32)  # px, width and height at which letters are compared


def find_circles(image: Pixels, count: int, colour: Colour) -> list[Point] | None:
    """Find the centres of ``count`` circles, px, clearest first; None if there are fewer."""
    peaks, _ = _circles(ink_of(image, colour), count)
    return peaks or None


def match_letters(image: Pixels, letters: str, colour: Colour) -> dict[str, Point] | None:
    """Match each letter to the circle it labels; None if there are fewer circles than letters."""
    ink = ink_of(image, colour)
    circles, radius = _circles(ink, len(letters))
    if not circles:
        return None
    glyphs = [_glyphs_near(ink > 0.5, circle, radius) for circle in circles]
    likeness = [[_likeness(near, letter) for letter in letters] for near in glyphs]
    best = max(
        permutations(range(len(letters))),
        key=lambda order: sum(likeness[at][nth] for nth, at in enumerate(order)),
    )
    return {letter: circles[at] for letter, at in zip(letters, best, strict=True)}


def ink_of(image: Pixels, colour: Colour) -> Ink:
    """Similarity of each px to the pen's colour, in [0, 1]."""
    red, green, blue = (image[:, :, channel].astype(np.float32) for channel in range(3))
    if colour == "red":
        return np.clip((red - np.maximum(green, blue)) / 200, 0, 1)
    darkest = np.minimum(np.minimum(red, green), blue)
    return np.clip((darkest - 190) / 55, 0, 1)


def _circles(ink: Ink, count: int) -> tuple[list[Point], float]:
    """Find ``count`` circles of one radius: centres and radius in px; no centres if fewer."""
    for scale in _SCALES:
        radius = _RADIUS * scale * ink.shape[0]
        # Far enough apart that a round letter is not mistaken for the circle that it labels.
        peaks = _peaks(_ring_response(ink, radius), count, apart=4 * radius)
        if len(peaks) == count:
            return peaks, radius
    return [], 0.0


def _ring_response(ink: Ink, radius: float) -> Ink:
    """Excess of ink on a circle around each px over its inside and outside."""
    reach = int(radius) + 4
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    distance = np.hypot(x, y)
    on = (distance <= radius - 0.5) & (distance >= radius * 0.7 + 0.5)
    off = ((distance < radius * 0.7 - 1.5) & (distance > radius * 0.25)) | (
        (distance > radius + 1.5) & (distance <= radius + 3.5)
    )
    if not (on.any() and off.any()):  # too small a circle to be told from its surroundings
        return np.zeros_like(ink)
    kernel = on / on.sum() - off / off.sum()
    response = cv2.filter2D(ink, cv2.CV_32F, kernel.astype(np.float32))
    return np.asarray(response, np.float32)


def _peaks(response: Ink, count: int, apart: float) -> list[Point]:
    left = response.copy()
    peaks: list[Point] = []
    while len(peaks) < count:
        y, x = np.unravel_index(int(left.argmax()), left.shape)
        if left[y, x] < _MIN_CONTRAST:
            break
        peaks.append((float(x), float(y)))
        cv2.circle(left, (int(x), int(y)), round(apart), 0.0, -1)
    return peaks


def _glyphs_near(ink: NDArray[np.bool_], circle: Point, radius: float) -> list[Ink]:
    """Cut out candidate letters near a circle, scaled to ``_GLYPH``."""
    height = ink.shape[0]
    reach = round(radius + 0.045 * height)
    left, top = (max(0, round(at) - reach) for at in circle)
    window = ink[top : top + 2 * reach, left : left + 2 * reach].astype(np.uint8)
    cv2.circle(window, (round(circle[0]) - left, round(circle[1]) - top), round(radius) + 1, 0, -1)
    n, labels, stats, _ = cv2.connectedComponentsWithStats(window, connectivity=8)
    glyphs = []
    for nth in range(1, n):
        x, y, wide, high, _ = stats[nth]
        if 0.012 * height <= high <= 0.06 * height and wide <= 1.5 * high:
            shape = (labels[y : y + high, x : x + wide] == nth).astype(np.float32)
            glyphs.append(_fit_glyph(shape))
    return glyphs


def _likeness(glyphs: Sequence[Ink], letter: str) -> float:
    """Correlation of the most similar glyph with the letter in either font."""
    return max(
        (_correlation(glyph, rendered) for glyph in glyphs for rendered in _render_letter(letter)),
        default=0.0,
    )


def _correlation(one: Ink, other: Ink) -> float:
    a, b = one - one.mean(), other - other.mean()
    return float((a * b).sum() / (np.linalg.norm(a) * np.linalg.norm(b) + 1e-6))


@lru_cache(maxsize=26)
def _render_letter(letter: str) -> list[Ink]:
    """The letter as Pillow writes it, and as OpenCV does."""
    sheet = Image.new("L", (120, 120))
    ImageDraw.Draw(sheet).text((30, 20), letter, fill=255, font=ImageFont.load_default(60))
    other = np.zeros((120, 120), np.uint8)
    cv2.putText(other, letter, (30, 90), cv2.FONT_HERSHEY_SIMPLEX, 2.4, 255, 6)
    return [_fit_glyph((page > 127).astype(np.float32)) for page in (np.asarray(sheet), other)]


def _fit_glyph(shape: Ink) -> Ink:
    """Scale the inked area to one size."""
    ys, xs = np.nonzero(shape)
    tight = shape[ys.min() : ys.max() + 1, xs.min() : xs.max() + 1]
    return np.asarray(cv2.resize(tight, _GLYPH, interpolation=cv2.INTER_AREA), np.float32)
