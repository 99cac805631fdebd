"""Surfaces, relighting and puzzles of the mini edition, drawn from a seed."""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from math import log
from random import Random
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from bench_assets.core.images.drawing import encode_jpeg

Pixels = NDArray[np.uint8]  # height, width, RGB

_GREY = np.array([0.299, 0.587, 0.114], np.float32)  # of R, G, B, as Pillow mixes them
_GRAIN = 20.0  # variance of the Laplacian of white grain of variance 1
_BLUR = 0.9  # px of blur, so that no drawn edge is sharper than grain


class Look(NamedTuple):
    """Image statistics that are independent of the content."""

    brightness: float  # mean level of grey, of 255
    contrast: float  # standard deviation of the levels
    sharpness: float  # variance of the Laplacian of the levels


def noise(rng: Random, width: int, height: int, *, coarsest: int = 2, finest: int = 64) -> Pixels:
    """Draw coloured noise whose finer layers are weaker, as in photographs; sizes in px.

    The strongest layer has ``coarsest`` blotches across the image, the weakest ``finest``.
    """
    generator = np.random.default_rng(rng.getrandbits(64))
    half_width, half_height = width // 2, height // 2  # enough for the finest layer
    total = np.zeros((half_height, half_width, 3), np.float32)
    blotches = coarsest
    while blotches <= finest:
        grid = generator.normal(size=(blotches, blotches, 3)).astype(np.float32)
        grid = 0.7 * grid.mean(axis=2, keepdims=True) + 0.5 * grid  # mostly light, some colour
        layer = cv2.resize(grid, (half_width, half_height), interpolation=cv2.INTER_CUBIC)
        total += layer / blotches**0.6
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


def match_look(rng: Random, image: Pixels, look: Look) -> Pixels:
    """Match an image's brightness, contrast and sharpness to a look, by scaling and grain."""
    soft = cv2.GaussianBlur(image, (0, 0), _BLUR).astype(np.float32)
    grey = soft @ _GREY
    centred = (soft - grey.mean()) / (grey.std() + 1e-3)
    own_sharpness = float(cv2.Laplacian(centred @ _GREY, cv2.CV_32F)[1:-1, 1:-1].var())
    target_sharpness = look.sharpness / look.contrast**2
    share = (target_sharpness - own_sharpness) / (_GRAIN - own_sharpness)
    share = min(max(share, 0.0), 1.0)  # of grain in the variance
    grain = np.random.default_rng(rng.getrandbits(64)).standard_normal(grey.shape, np.float32)
    mixed = (1 - share) ** 0.5 * centred + share**0.5 * grain[:, :, None]
    return levels(look.brightness + look.contrast * mixed + 0.5)


def levels(values: NDArray[Any]) -> Pixels:
    """Clip values to [0, 255] and convert them to uint8."""
    pixels: Pixels = np.clip(values, 0, 255).astype(np.uint8)
    return pixels


def pad_to_equal_length(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Pad image files with trailing zeros, which decoders ignore, to the longest file's length.

    File sizes would otherwise reveal which option is smooth or busy.
    """
    longest = max(map(len, files.values()))
    return {name: data.ljust(longest, b"\0") for name, data in files.items()}


def as_jpeg(pixels: Pixels) -> bytes:
    """Encode as JPEG."""
    return encode_jpeg(Image.fromarray(pixels))


def as_file(pixels: Pixels, image_format: str) -> bytes:
    """Encode without loss, as ``"PNG"`` or ``"PPM"``."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, image_format, compress_level=1)
    return file.getvalue()


_SIZE = (360, 270)  # px
_COLUMNS = 4  # columns of tiles of a shaded wall
_ROWS = 3  # rows of tiles of a shaded wall
_ALBEDOS = (0.15, 0.28, 0.5, 0.9)  # far enough apart to be told apart


def shaded_walls(rng: Random, n: int) -> dict[str, bytes]:
    """Write images of Intrinsic Images in the Wild: tiled walls whose albedo is known.

    The three kinds of judgement alternate. Two extra images, with low scores only, must be
    rejected.
    """
    files: dict[str, bytes] = {}
    for index in range(n + 2):
        albedo = [rng.choice(_ALBEDOS) for _ in range(_COLUMNS * _ROWS)]
        name = f"data/{1000 + index}"
        files[f"{name}.png"] = as_file(_light_tiles(rng, albedo), "PNG")
        content = _judgements(rng, albedo, "12E"[index % 3], is_sure=index < n)
        files[f"{name}.json"] = (json.dumps(content) + "\n").encode()
    return files


def _light_tiles(rng: Random, albedo: list[float]) -> Pixels:
    """Light tiles from one side, so strongly that a lit dark tile can outshine a bright one."""
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
    rng: Random, albedo: list[float], darker: str, *, is_sure: bool
) -> dict[str, list[dict[str, object]]]:
    """Compare up to three pairs of tiles of which ``darker`` is darker ("E": neither)."""
    centres = [
        ((column + 0.5) / _COLUMNS, (row + 0.5) / _ROWS)
        for row in range(_ROWS)
        for column in range(_COLUMNS)
    ]
    points: list[dict[str, object]] = [
        {"id": index, "x": x, "y": y, "opaque": True} for index, (x, y) in enumerate(centres)
    ]
    matching_pairs = [
        (first, second)
        for first, second in permutations(range(len(albedo)), 2)
        if _darker(albedo[first], albedo[second]) == darker
    ]
    comparisons: list[dict[str, object]] = [
        {
            "point1": first,
            "point2": second,
            "darker": darker,
            "darker_score": round(rng.uniform(0.8, 2.0), 2) if is_sure else 0.1,
        }
        for first, second in rng.sample(matching_pairs, min(3, len(matching_pairs)))
    ]
    return {"intrinsic_points": points, "intrinsic_comparisons": comparisons}


def _darker(first: float, second: float) -> str:
    """Return "1" or "2" for the smaller albedo, "E" for equal ones."""
    if first == second:
        return "E"
    return "1" if first < second else "2"


_CELL = 110  # px, side of a tile
_COLOURS = ("crimson", "royalblue", "seagreen", "darkorange", "purple", "black")


class _Puzzle(NamedTuple):
    shown: Sequence[int]  # the first three values of the sequence
    right: int
    wrong: Sequence[int]  # three values
    explanation: str


def puzzles(rng: Random, n: int) -> dict[str, bytes]:
    """Write puzzles about numbers of dots, turned hands and growing polygons."""
    files: dict[str, bytes] = {}
    lines = []
    for index in range(n):
        make_puzzle, draw_value = _RULES[index % len(_RULES)]
        puzzle = make_puzzle(rng)
        position = index % 4
        options = (*puzzle.wrong[:position], puzzle.right, *puzzle.wrong[position:])
        name = f"images/{index:02}.jpg"
        files[name] = encode_jpeg(_draw_puzzle(puzzle, options, draw_value, rng))
        answer = "ABCD"[position]
        explanation = f"{puzzle.explanation} So the next picture is {answer}."
        lines.append(
            {"id": f"{index:02}", "image": name, "answer": answer, "explanation": explanation}
        )
    files["puzzles.jsonl"] = "".join(json.dumps(line) + "\n" for line in lines).encode()
    return files


def _draw_puzzle(
    puzzle: _Puzzle,
    options: Sequence[int],
    draw_value: Callable[[ImageDraw.ImageDraw, int, tuple[int, int], str], None],
    rng: Random,
) -> Image.Image:
    """Draw three values and a question mark, and the options below with their letters."""
    ground = noise(rng, 4 * _CELL + 120, 2 * _CELL + 100, finest=8)
    sheet = Image.fromarray(levels(60 + 0.8 * ground))  # no two sheets look alike
    pen = ImageDraw.Draw(sheet)
    colour, drop, indent = rng.choice(_COLOURS), rng.randint(0, 30), rng.randint(0, 60)
    rows: list[Sequence[int | None]] = [[*puzzle.shown, None], options]
    for row, values in enumerate(rows):
        for column, value in enumerate(values):
            left, top = 12 + indent + column * (_CELL + 12), 10 + drop + row * (_CELL + 10)
            panel = (rng.randint(160, 255),) * 3
            pen.rectangle((left, top, left + _CELL, top + _CELL), fill=panel, outline="black")
            centre = (left + _CELL // 2, top + _CELL // 2)
            if value is None:
                pen.text(centre, "?", fill="black", anchor="mm", font_size=60)
            else:
                draw_value(pen, value, centre, colour)
            if values is options:
                below = (centre[0], top + _CELL + 20)
                pen.text(below, "ABCD"[column], fill="black", anchor="mm", font_size=26)
    return sheet


def _dot_puzzle(rng: Random) -> _Puzzle:
    start, step = rng.randint(1, 3), rng.choice((1, 2))
    sequence = (start, start + step, start + 2 * step)
    right = start + 3 * step
    wrong = rng.sample([n for n in range(1, 10) if n != right], 3)
    explanation = f"Each picture has {step} more of the dots than the one before."
    return _Puzzle(shown=sequence, right=right, wrong=wrong, explanation=explanation)


def _hand_puzzle(rng: Random) -> _Puzzle:
    """Make a puzzle whose values are degrees clockwise from upright."""
    start, step = rng.randrange(0, 360, 45), rng.choice((45, 90, 135))
    sequence = (start, (start + step) % 360, (start + 2 * step) % 360)
    right = (start + 3 * step) % 360
    wrong = rng.sample([angle for angle in range(0, 360, 45) if angle != right], 3)
    explanation = f"The hand turns clockwise by {step} degrees each time."
    return _Puzzle(shown=sequence, right=right, wrong=wrong, explanation=explanation)


def _polygon_puzzle(rng: Random) -> _Puzzle:
    start = rng.randint(3, 5)
    sequence, right = (start, start + 1, start + 2), start + 3
    wrong = rng.sample([n for n in range(3, 10) if n != right], 3)
    explanation = "The polygon has one more corner each time."
    return _Puzzle(shown=sequence, right=right, wrong=wrong, explanation=explanation)


def _draw_dots(pen: ImageDraw.ImageDraw, value: int, centre: tuple[int, int], colour: str) -> None:
    for index in range(value):
        row, column = divmod(index, 3)
        x, y = centre[0] + 30 * (column - 1), centre[1] + 30 * (row - 1)
        pen.ellipse((x - 11, y - 11, x + 11, y + 11), fill=colour)


def _draw_hand(pen: ImageDraw.ImageDraw, value: int, centre: tuple[int, int], colour: str) -> None:
    x, y = centre
    pen.ellipse((x - 48, y - 48, x + 48, y + 48), outline=colour, width=4)
    pen.pieslice((x - 46, y - 46, x + 46, y + 46), value - 108, value - 72, fill=colour)


def _draw_polygon(
    pen: ImageDraw.ImageDraw, value: int, centre: tuple[int, int], colour: str
) -> None:
    pen.regular_polygon((*centre, 46), value, fill=colour)


_RULES = ((_dot_puzzle, _draw_dots), (_hand_puzzle, _draw_hand), (_polygon_puzzle, _draw_polygon))
