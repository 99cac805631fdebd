"""Mini raw material about style: one way of painting an image for each folder of WikiArt.

Surfaces for the mini edition: what has the statistics of a photograph, drawn from a seed.
"""

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from bench_assets.core.images.drawing import jpeg

Pixels = NDArray[np.uint8]  # height, width, RGB


def noise(rng: Random, width: int, height: int, *, coarsest: int = 2, finest: int = 64) -> Pixels:
    """Draw coloured noise whose detail weakens with its size, as in photographs.

    Args:
        rng: Draws everything.
        width: px.
        height: px.
        coarsest: Blotches across the image in the strongest layer.
        finest: Blotches across the image in the weakest layer.
    """
    generator = np.random.default_rng(rng.getrandbits(64))
    half = (width // 2, height // 2)  # no layer is so fine that it needs more
    total = np.zeros((half[1], half[0], 3), np.float32)
    blotches = coarsest
    while blotches <= finest:
        grid = generator.normal(size=(blotches, blotches, 3)).astype(np.float32)
        grid = 0.7 * grid.mean(axis=2, keepdims=True) + 0.5 * grid  # mostly light, some colour
        total += cv2.resize(grid, half, interpolation=cv2.INTER_CUBIC) / blotches**0.6
        blotches *= 2
    light = 128 + 52 * (total - total.mean()) / (total.std() + 1e-6)
    return levels(cv2.resize(light, (width, height), interpolation=cv2.INTER_LINEAR))


def mosaic(rng: Random, width: int, height: int, n_shapes: int) -> Pixels:
    """Strew polygons of many colours over noise: a surface with corners everywhere."""
    surface = np.ascontiguousarray(noise(rng, width, height))
    reach = max(width, height) // 8
    for _ in range(n_shapes):
        x, y = rng.randrange(width), rng.randrange(height)
        corners = [
            (x + rng.randint(-reach, reach), y + rng.randint(-reach, reach))
            for _ in range(rng.choice((3, 4)))
        ]
        colour = [rng.randrange(256) for _ in range(3)]
        cv2.fillConvexPoly(surface, cv2.convexHull(np.array(corners, np.int32)), colour)
    return surface


def levels(values: NDArray[Any]) -> Pixels:
    """Cut real values to the levels that a pixel can have."""
    pixels: Pixels = np.clip(values, 0, 255).astype(np.uint8)
    return pixels


def of_one_length(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Lengthen files of images by zeros after their end, which every decoder passes over.

    Where images are options, the sizes of their files would tell which one is smooth or busy.
    """
    longest = max(map(len, files.values()))
    return {name: data.ljust(longest, b"\0") for name, data in files.items()}


def grainy(rng: Random, image: NDArray[Any], grain: float) -> Pixels:
    """Add the noise of a camera; ``grain`` is its standard deviation in levels of 255."""
    generator = np.random.default_rng(rng.getrandbits(64))
    return levels(image + grain * generator.standard_normal(image.shape, np.float32))


def as_jpeg(pixels: Pixels) -> bytes:
    """Encode as a photograph is."""
    return jpeg(Image.fromarray(pixels))


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
