"""Mini raw material about light: shaded walls whose albedo is known."""

import json
from math import log
from random import Random

import numpy as np

from bench_assets.suites.blink.synthetic.surfaces import Pixels, as_file, levels, noise

_SIZE = (360, 270)  # px
_COLUMNS, _ROWS = 4, 3  # tiles of a shaded wall
_ALBEDOS = (0.15, 0.28, 0.5, 0.9)  # each tells from the next


def shaded_walls(rng: Random, n: int) -> dict[str, bytes]:
    """Write images of Intrinsic Images in the Wild: tiled walls whose albedo is known.

    A third of them has a judgement of each kind. Two more have only doubtful ones.
    """
    files: dict[str, bytes] = {}
    for nth in range(n + 2):
        albedo = [rng.choice(_ALBEDOS) for _ in range(_COLUMNS * _ROWS)]
        name = f"data/{1000 + nth}"
        files[f"{name}.png"] = as_file(_lit(rng, albedo), "PNG")
        doubtful = nth >= n
        content = _judgements(rng, albedo, ("1", "2", "E")[nth % 3], doubtful)
        files[f"{name}.json"] = (json.dumps(content) + "\n").encode()
    return files


def _lit(rng: Random, albedo: list[float]) -> Pixels:
    """Light tiles from a side, so strongly that a dark tile in the light outshines a bright one."""
    width, height = _SIZE
    tiles = np.array(albedo, np.float32).reshape(_ROWS, _COLUMNS)
    reflectance = np.kron(tiles, np.ones((height // _ROWS, width // _COLUMNS), np.float32))
    grain = noise(rng, width, height, coarsest=32, finest=128).astype(np.float32) / 128 - 1
    x, y = np.meshgrid(np.linspace(-1, 1, width), np.linspace(-1, 1, height))
    angle = rng.uniform(0, 2 * np.pi)
    shading = np.exp(log(3.0) / 2 * (np.cos(angle) * x + np.sin(angle) * y))
    light = reflectance * (1 + 0.03 * grain.mean(axis=2)) * shading / shading.max()
    tint = np.array([1.0, rng.uniform(0.85, 1.0), rng.uniform(0.7, 1.0)])
    linear = np.clip(light[:, :, None] * tint, 0, 1)
    return levels(255 * linear ** (1 / 2.2))


def _judgements(
    rng: Random, albedo: list[float], darker: str, doubtful: bool
) -> dict[str, list[dict[str, object]]]:
    places = [
        ((column + 0.5) / _COLUMNS, (row + 0.5) / _ROWS)
        for row in range(_ROWS)
        for column in range(_COLUMNS)
    ]
    points: list[dict[str, object]] = [
        {"id": nth, "x": x, "y": y, "opaque": True} for nth, (x, y) in enumerate(places)
    ]
    fitting = [
        (one, other)
        for one in range(len(albedo))
        for other in range(len(albedo))
        if one != other and _darker(albedo[one], albedo[other]) == darker
    ]
    comparisons: list[dict[str, object]] = [
        {
            "point1": one,
            "point2": other,
            "darker": darker,
            "darker_score": 0.1 if doubtful else round(rng.uniform(0.8, 2.0), 2),
        }
        for one, other in rng.sample(fitting, min(3, len(fitting)))
    ]
    return {"intrinsic_points": points, "intrinsic_comparisons": comparisons}


def _darker(one: float, other: float) -> str:
    return "E" if one == other else "1" if one < other else "2"
