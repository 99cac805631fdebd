"""Mini raw material about light and look: shaded surfaces, real and made-up images, triplets."""

import io
import json
from math import log
from random import Random

import cv2
import numpy as np
from PIL import Image

from bench_assets.suites.blink.synthetic.styles import (
    Pixels,
    as_jpeg,
    grainy,
    levels,
    mosaic,
    noise,
    of_one_length,
)

_SIZE = (360, 270)  # px
_COLUMNS, _ROWS = 4, 3  # tiles of a shaded wall
_GRAIN = 9  # levels of 255
_ALBEDOS = (0.15, 0.28, 0.5, 0.9)  # each tells from the next


def shaded_walls(rng: Random, n: int) -> dict[str, bytes]:
    """Write images of Intrinsic Images in the Wild: tiled walls whose albedo is known.

    A third of them has a judgement of each kind. Two more have only doubtful ones.
    """
    files: dict[str, bytes] = {}
    for nth in range(n + 2):
        albedo = [rng.choice(_ALBEDOS) for _ in range(_COLUMNS * _ROWS)]
        name = f"data/{1000 + nth}"
        files[f"{name}.png"] = _png(_lit(rng, albedo))
        doubtful = nth >= n
        content = _judgements(rng, albedo, ("1", "2", "E")[nth % 3], doubtful)
        files[f"{name}.json"] = (json.dumps(content) + "\n").encode()
    return files


def real_and_generated(rng: Random, n: int) -> dict[str, bytes]:
    """Write captions with one image as a camera takes it and three as a generator leaves them.

    This generator smooths every surface and leaves its grid behind. All have the same grain.
    """
    files: dict[str, bytes] = {}
    lines = []
    for nth in range(n):
        names = [f"generated/{nth:02}_{copy}.jpg" for copy in (1, 2, 3)]
        surfaces = [mosaic(rng, *_SIZE, 20), *(_generated(mosaic(rng, *_SIZE, 20)) for _ in names)]
        images = [as_jpeg(grainy(rng, surface, _GRAIN)) for surface in surfaces]
        shown = zip((f"real/{nth:02}.jpg", *names), images, strict=True)
        files |= of_one_length(dict(shown))
        lines.append(
            {
                "id": f"{nth:02}",
                "caption": f"coloured shapes on a wall, arrangement {nth}",
                "real": f"real/{nth:02}.jpg",
                "generated": names,
            }
        )
    files["captions.jsonl"] = "".join(json.dumps(line) + "\n" for line in lines).encode()
    return files


def triplets(rng: Random, n: int) -> dict[str, bytes]:
    """Write NIGHTS triplets: an image, a slight variation, and one that shares only its colours.

    Two more are ambiguous: in one people disagree, of the other too few were asked.
    """
    files: dict[str, bytes] = {}
    rows = ["id,left_vote,right_vote,votes,ref_path,left_path,right_path"]
    for nth in range(n + 2):
        reference = mosaic(rng, 256, 256, 12)
        alike = np.roll(reference, rng.randint(5, 12), axis=1)
        unlike = np.ascontiguousarray(cv2.flip(np.rot90(reference), 1))
        left_wins = nth % 2 == 0
        shown = (reference, alike, unlike) if left_wins else (reference, unlike, alike)
        paths = [f"ref/{nth:03}.png", f"distort/{nth:03}_0.png", f"distort/{nth:03}_1.png"]
        images = [_png(grainy(rng, image, 3)) for image in shown]
        files |= of_one_length(dict(zip(paths, images, strict=True)))
        votes = (0.5, 0.5) if nth == n else (float(left_wins), float(not left_wins))
        asked = 3 if nth == n + 1 else 7
        rows.append(f"{nth},{votes[0]},{votes[1]},{asked},{','.join(paths)}")
    return files | {"data.csv": ("\n".join(rows) + "\n").encode()}


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


def _generated(image: Pixels) -> Pixels:
    smooth = cv2.bilateralFilter(image, 7, 60, 9).astype(np.float32)
    smooth[::8] *= 0.9
    smooth[:, ::8] *= 0.9
    return levels(smooth)


def _png(pixels: Pixels) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", compress_level=1)
    return file.getvalue()
