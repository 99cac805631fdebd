"""Finds the circles that BLINK draws on an image, and reads the letters beside them."""

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
Ink: TypeAlias = NDArray[np.float32]  # height, width: how much a px looks like the pen's colour
Colour: TypeAlias = Literal["red", "white"]

_RADIUS = 10 / 1024  # of a circle, as a share of the image's height (appendix A.1)
_SCALES = (1.0, 0.5, 1.5)  # of radii that are tried; the study of section 4.3 has three
_CLEAR = 0.45  # of 1: how well a circle must stand out
_GLYPH = (24, 32)  # px that letters are compared at


def find_circles(image: Pixels, count: int, colour: Colour) -> list[Point] | None:
    """Find the centres of that many circles, the clearest first, or None if there are fewer."""
    found, _ = _circles(ink_of(image, colour), count)
    return found or None


def find_lettered(image: Pixels, letters: str, colour: Colour) -> dict[str, Point] | None:
    """Find one circle for each letter, each told by the letter beside it, or None."""
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
    """How much each px looks like the pen's colour, in [0, 1]."""
    red, green, blue = (image[:, :, channel].astype(np.float32) for channel in range(3))
    if colour == "red":
        return np.clip((red - np.maximum(green, blue)) / 200, 0, 1)
    darkest = np.minimum(np.minimum(red, green), blue)
    return np.clip((darkest - 190) / 55, 0, 1)


def _circles(ink: Ink, count: int) -> tuple[list[Point], float]:
    """Find that many circles of one radius, or none; px."""
    for scale in _SCALES:
        radius = _RADIUS * scale * ink.shape[0]
        # So far apart that a round letter is not taken for the circle it stands beside.
        found = _peaks(_ringness(ink, radius), count, apart=4 * radius)
        if len(found) == count:
            return found, radius
    return [], 0.0


def _ringness(ink: Ink, radius: float) -> Ink:
    """How much more ink lies on a circle around each px than just inside and outside of it."""
    reach = int(radius) + 4
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    distance = np.hypot(x, y)
    on = (distance <= radius - 0.5) & (distance >= radius * 0.7 + 0.5)
    off = ((distance < radius * 0.7 - 1.5) & (distance > radius * 0.25)) | (
        (distance > radius + 1.5) & (distance <= radius + 3.5)
    )
    kernel = on / on.sum() - off / off.sum()
    response = cv2.filter2D(ink, cv2.CV_32F, kernel.astype(np.float32))
    return np.asarray(response, np.float32)


def _peaks(response: Ink, count: int, apart: float) -> list[Point]:
    left = response.copy()
    found: list[Point] = []
    while len(found) < count:
        y, x = np.unravel_index(int(left.argmax()), left.shape)
        if left[y, x] < _CLEAR:
            break
        found.append((float(x), float(y)))
        cv2.circle(left, (int(x), int(y)), round(apart), 0.0, -1)
    return found


def _glyphs_near(ink: NDArray[np.bool_], circle: Point, radius: float) -> list[Ink]:
    """Cut out what may be a letter close to a circle."""
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
            glyphs.append(_fitted(shape))
    return glyphs


def _likeness(glyphs: Sequence[Ink], letter: str) -> float:
    """Correlation of the most similar glyph with the letter in either font."""
    return max(
        (_correlation(glyph, drawn) for glyph in glyphs for drawn in _drawn(letter)), default=0.0
    )


def _correlation(one: Ink, other: Ink) -> float:
    a, b = one - one.mean(), other - other.mean()
    return float((a * b).sum() / (np.linalg.norm(a) * np.linalg.norm(b) + 1e-6))


@lru_cache(maxsize=26)
def _drawn(letter: str) -> list[Ink]:
    """The letter as Pillow writes it, and as OpenCV does."""
    sheet = Image.new("L", (120, 120))
    ImageDraw.Draw(sheet).text((30, 20), letter, fill=255, font=ImageFont.load_default(60))
    other = np.zeros((120, 120), np.uint8)
    cv2.putText(other, letter, (30, 90), cv2.FONT_HERSHEY_SIMPLEX, 2.4, 255, 6)
    return [_fitted((page > 127).astype(np.float32)) for page in (np.asarray(sheet), other)]


def _fitted(shape: Ink) -> Ink:
    """Scale what is inked to one size."""
    ys, xs = np.nonzero(shape)
    tight = shape[ys.min() : ys.max() + 1, xs.min() : xs.max() + 1]
    return np.asarray(cv2.resize(tight, _GLYPH, interpolation=cv2.INTER_AREA), np.float32)
