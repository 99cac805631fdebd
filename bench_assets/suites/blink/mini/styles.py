"""Mini raw material about style: one way of painting a picture for each folder of WikiArt."""

from collections.abc import Callable, Iterator
from random import Random

import cv2
import numpy as np

from bench_assets.suites.blink.mini.textures import (
    Pixels,
    as_jpeg,
    levels,
    mosaic,
    noise,
    of_one_length,
)

_SIZE = (360, 270)  # px


def paintings(rng: Random, n: int) -> dict[str, bytes]:
    """Write WikiArt: each style painted so often that n questions can be asked."""
    per_style = -(-3 * n // len(_STYLES)) + 1
    return of_one_length(
        {
            f"{style}/painter-{nth:02}.jpg": as_jpeg(paint(rng))
            for style, paint in _STYLES.items()
            for nth in range(per_style)
        }
    )


def _motif(rng: Random) -> Pixels:
    return levels(0.6 * noise(rng, *_SIZE, finest=8) + 0.4 * mosaic(rng, *_SIZE, 8))


def _dabs(
    rng: Random, motif: Pixels, n: int, unlike: int
) -> Iterator[tuple[int, int, list[float]]]:
    """Draw n places, each with a colour that is off the motif's by so many levels at most."""
    generator = np.random.default_rng(rng.getrandbits(64))
    places = generator.integers((0, 0), _SIZE, (n, 2))
    colours = motif[places[:, 1], places[:, 0]] + generator.uniform(-unlike, unlike, (n, 3))
    for (x, y), colour in zip(places.tolist(), colours.tolist(), strict=True):
        yield x, y, colour


def _dotted(rng: Random) -> Pixels:
    """Pointillism: dots of pure colour on a light ground."""
    motif = _motif(rng)
    canvas = np.full_like(motif, 235)
    for x, y, colour in _dabs(rng, motif, 3500, 30):
        cv2.circle(canvas, (x, y), 3, colour, -1)
    return canvas


def _faceted(rng: Random) -> Pixels:
    """Cubism: angular facets with dark edges, in browns and greys."""
    motif = cv2.cvtColor(_motif(rng), cv2.COLOR_RGB2GRAY)
    canvas = np.full((_SIZE[1], _SIZE[0], 3), 120, np.uint8)
    for _ in range(140):
        x, y = rng.randrange(_SIZE[0]), rng.randrange(_SIZE[1])
        corners = [(x + rng.randint(-45, 45), y + rng.randint(-45, 45)) for _ in range(4)]
        shape = cv2.convexHull(np.array(corners, np.int32))
        light = int(motif[y, x])
        cv2.fillConvexPoly(canvas, shape, (light, int(light * 0.85), int(light * 0.6)))
        cv2.polylines(canvas, [shape], True, (40, 30, 20), 2)
    return canvas


def _stroked(rng: Random) -> Pixels:
    """Impressionism: short strokes that follow one direction of light."""
    motif = _motif(rng)
    canvas = motif.copy()
    slant = rng.uniform(-1, 1)
    for x, y, colour in _dabs(rng, motif, 2500, 25):
        cv2.line(canvas, (x, y), (x + 14, y + round(14 * slant)), colour, 4)
    return canvas


def _printed(rng: Random) -> Pixels:
    """Pop art: few flat, loud colours with black outlines."""
    blurred = cv2.GaussianBlur(_motif(rng), (0, 0), 6)
    loud = levels(np.where(blurred > blurred.mean(axis=(0, 1)), 255, 0))
    edges = cv2.dilate(cv2.Canny(loud, 100, 200), np.ones((3, 3), np.uint8))
    loud[edges > 0] = 0
    return loud


def _fielded(rng: Random) -> Pixels:
    """Color field painting: soft bands of colour, nothing else."""
    bands = rng.randint(2, 5)
    colours = np.array([[[rng.randrange(256) for _ in range(3)]] for _ in range(bands)], np.uint8)
    field = cv2.resize(colours, _SIZE, interpolation=cv2.INTER_LINEAR)
    return levels(0.85 * field + 0.15 * noise(rng, *_SIZE, finest=128))


_STYLES: dict[str, Callable[[Random], Pixels]] = {
    "Color_Field_Painting": _fielded,
    "Cubism": _faceted,
    "Impressionism": _stroked,
    "Pointillism": _dotted,
    "Pop_Art": _printed,
}
