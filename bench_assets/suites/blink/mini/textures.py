"""Surfaces for the mini edition: what has the statistics of a photograph, drawn from a seed."""

from collections.abc import Mapping
from random import Random
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from bench_assets.core.draw import jpeg

Pixels = NDArray[np.uint8]  # height, width, RGB


def noise(rng: Random, width: int, height: int, *, coarsest: int = 2, finest: int = 64) -> Pixels:
    """Draw coloured noise whose detail weakens with its size, as in photographs.

    Args:
        rng: Draws everything.
        width: px.
        height: px.
        coarsest: Blotches across the picture in the strongest layer.
        finest: Blotches across the picture in the weakest layer.
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
    """Lengthen files of pictures by zeros after their end, which every decoder passes over.

    Where pictures are options, the sizes of their files would tell which one is smooth or busy.
    """
    longest = max(map(len, files.values()))
    return {name: data.ljust(longest, b"\0") for name, data in files.items()}


def grainy(rng: Random, picture: NDArray[Any], grain: float) -> Pixels:
    """Add the noise of a camera; ``grain`` is its standard deviation in levels of 255."""
    generator = np.random.default_rng(rng.getrandbits(64))
    return levels(picture + grain * generator.standard_normal(picture.shape, np.float32))


def as_jpeg(pixels: Pixels) -> bytes:
    """Encode as a photograph is."""
    return jpeg(Image.fromarray(pixels))
