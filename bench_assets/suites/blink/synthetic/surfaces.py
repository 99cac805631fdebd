"""Surfaces for the mini edition: drawn from a seed, with the statistics of photographs."""

import io
from collections.abc import Mapping
from random import Random
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from bench_assets.core.images.drawing import jpeg

Pixels = NDArray[np.uint8]  # height, width, RGB

_GREY = np.array([0.299, 0.587, 0.114], np.float32)  # of R, G, B, as Pillow mixes them
_GRAIN = 20.0  # variance of the Laplacian of white grain of variance 1
_SOFT = 0.9  # px of blur: no drawn edge is sharper than grain


class Look(NamedTuple):
    """Statistics of an image that say nothing about what it shows."""

    brightness: float  # mean level of grey, of 255
    contrast: float  # standard deviation of the levels
    sharpness: float  # variance of the Laplacian of the levels


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


def with_look(rng: Random, image: Pixels, look: Look) -> Pixels:
    """Give an image the brightness, contrast and sharpness of ``look``, by scaling and grain."""
    soft = cv2.GaussianBlur(image, (0, 0), _SOFT).astype(np.float32)
    grey = soft @ _GREY
    centred = (soft - grey.mean()) / (grey.std() + 1e-3)
    own = float(cv2.Laplacian(centred @ _GREY, cv2.CV_32F)[1:-1, 1:-1].var())
    wanted = look.sharpness / look.contrast**2
    share = min(max((wanted - own) / (_GRAIN - own), 0.0), 1.0)  # of grain in the variance
    grain = np.random.default_rng(rng.getrandbits(64)).standard_normal(grey.shape, np.float32)
    mixed = (1 - share) ** 0.5 * centred + share**0.5 * grain[:, :, None]
    return levels(look.brightness + look.contrast * mixed + 0.5)


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


def as_jpeg(pixels: Pixels) -> bytes:
    """Encode as photographs are."""
    return jpeg(Image.fromarray(pixels))


def as_file(pixels: Pixels, image_format: str) -> bytes:
    """Encode without loss, as ``"PNG"`` or ``"PPM"``."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, image_format, compress_level=1)
    return file.getvalue()
