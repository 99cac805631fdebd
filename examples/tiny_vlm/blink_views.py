"""Views like the images of BLINK's mini edition, with questions worded as BLINK's are."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import NamedTuple

import numpy as np
from PIL import Image

from bench_assets.core.images.drawing import Mark, Point
from bench_assets.core.images.synthetic_scenes import Box, Scene, Spot
from bench_assets.core.parsing.choices import lettered
from bench_assets.suites.blink.builders.circled_points import SHADES
from bench_assets.suites.blink.builders.drafts import Marks, circles_on, placed, wording
from bench_assets.suites.blink.builders.whole_images import CountingParameters, wrong_numbers
from bench_assets.suites.blink.synthetic.surfaces import noise, shaded_walls
from examples.tiny_vlm.lessons import Asked, decoded, response_for
from examples.tiny_vlm.model import CELLS
from examples.tiny_vlm.views import Part, View, cells_of

THINGS = {
    "dog": "dogs",
    "cat": "cats",
    "red apple": "apples",
    "pear": "pears",
    "rooster": "roosters",
    "turtle": "turtles",
    "bicycle": "bicycles",
    "teapot": "teapots",
    "umbrella": "umbrellas",
    "guitar": "guitars",
    "key": "keys",
    "balloon": "balloons",
}
"""The sprites of BLINK's mini edition, and how many of each are called."""

_SIZE = (400, 300)  # px
_SPOTS = [(x, y) for x in range(30, 400, 48) for y in (35, 100, 200, 265)]  # of small things
_HALF = 150  # px from the top: a line is drawn there
_QUESTIONS = 3  # about one view
_SHADE_STEPS = 16  # levels of grey that have one name
_CLOSER = ("A is closer", "B is closer")


class _Backdrop(NamedTuple):
    box: Box
    colour: str


def strewn(rng: Random) -> View:
    """Strew small things of three kinds above and below a line, to be counted."""
    kinds = rng.sample(sorted(THINGS), 3)
    names = [kind for kind in kinds for _ in range(rng.randint(1, 5))]
    spots = rng.sample(_SPOTS, len(names))
    parts = [
        Part(name, x + rng.randint(-4, 4), y + rng.randint(-8, 8), 40)
        for name, (x, y) in zip(names, spots, strict=True)
    ]
    asked = [(kind, side) for kind in kinds for side in ("above", "below")]
    talk = [_how_many(parts, *one, rng) for one in rng.sample(asked, _QUESTIONS)]
    line = _Backdrop((0, _HALF - 2, _SIZE[0], _HALF + 2), "black")
    return View(_cells(parts), talk, partial(_photo, parts, [line], rng.getrandbits(32)))


def pair(rng: Random) -> View:
    """Place two large things beside or above each other."""
    beside = rng.random() < 0.5
    spots = _beside(rng) if beside else _below(rng)
    rng.shuffle(spots)
    names = rng.sample(sorted(THINGS), 2)
    parts = [
        Part(name, *spot, rng.randint(80, 110)) for name, spot in zip(names, spots, strict=True)
    ]
    relations = ("left of", "right of") if beside else ("above", "below")
    both = [(one, other) for one, other in (parts, parts[::-1])]
    talk = [_is(one, relation, other) for one, other in both for relation in relations]
    draw = partial(_photo, parts, [], rng.getrandbits(32))
    return View(_cells(parts), rng.sample(talk, _QUESTIONS), draw)


def depths(rng: Random) -> View:
    """Stand a near and a far thing on a plain, each with a circled point."""
    horizon = rng.randint(60, 130)
    plain = _Backdrop((0, horizon, *_SIZE), rng.choice(("tan", "olive", "darkgreen")))
    columns = rng.sample((80, 200, 320), 2)
    near = _standing(rng, columns[0], horizon, rng.uniform(1.0, 1.6))
    far = _standing(rng, columns[1], horizon, rng.uniform(2.6, 4.5))
    place = rng.randrange(2)
    points = [
        replace(part, name=letter)
        for letter, part in zip("AB", placed(near, [far], place), strict=True)
    ]
    photo = partial(_photo, [far, near], [plain], rng.getrandbits(32))
    marks = [Mark(point.name, (point.x, point.y)) for point in points]
    talk = [_choice(wording("Relative_Depth").prompt, _CLOSER, place)]
    return View(_cells([far, near, *points]), talk, partial(_circled, photo, marks, "red"))


def wall(rng: Random) -> View:
    """Light a tiled wall and circle two tiles; the word of a cell says how light it is."""
    files = shaded_walls(rng, 1)  # three: the first point darker, the second, and neither
    name = f"data/{1000 + rng.randrange(3)}"
    truth = json.loads(files[f"{name}.json"])
    image = decoded(files[f"{name}.png"])
    judged = rng.choice(truth["intrinsic_comparisons"])
    ends = [truth["intrinsic_points"][judged[end]] for end in ("point1", "point2")]
    marks = [
        Mark(letter, (end["x"] * image.width, end["y"] * image.height))
        for letter, end in zip("AB", ends, strict=True)
    ]
    shades = [(name, *middle) for name, middle in _shades(image)]
    points = [(letter, *point) for letter, point in marks]
    talk = [_choice(wording("Relative_Reflectance").prompt, SHADES, "12E".index(judged["darker"]))]
    draw = partial(_circled, lambda: image, marks, "white")
    return View(cells_of([*shades, *points], image.size), talk, draw)


def _shades(image: Image.Image) -> list[tuple[str, Point]]:
    """How light each cell is, as a number, and where its middle lies."""
    grey = image.convert("L").resize((CELLS, CELLS), Image.Resampling.BOX)
    wide, high = image.width / CELLS, image.height / CELLS
    return [
        (str(level // _SHADE_STEPS), ((column + 0.5) * wide, (row + 0.5) * high))
        for row, levels in enumerate(np.asarray(grey).tolist())
        for column, level in enumerate(levels)
    ]


def _beside(rng: Random) -> list[Spot]:
    left, right = rng.randint(60, 120), rng.randint(270, 330)
    return [(left, rng.randint(120, 180)), (right, rng.randint(120, 180))]


def _below(rng: Random) -> list[Spot]:
    x = rng.randint(120, 280)
    return [(x, rng.randint(60, 95)), (x + rng.randint(-30, 30), rng.randint(205, 240))]


def _standing(rng: Random, column: int, horizon: int, distance: float) -> Part:
    """A thing on the plain, smaller and higher up the farther it is."""
    size = round(160 / distance)
    foot = horizon + round((_SIZE[1] - 20 - horizon) / distance)
    return Part(rng.choice(sorted(THINGS)), column, foot - size // 2, size)


def _how_many(parts: Sequence[Part], kind: str, side: str, rng: Random) -> Asked:
    n = sum(part.name == kind and (part.y < _HALF) == (side == "above") for part in parts)
    wrong = [str(number) for number in wrong_numbers(n, CountingParameters().spread, rng)]
    place = rng.randrange(4)
    asked = wording("Counting", question=f"How many {THINGS[kind]} are {side} the line?")
    return _choice(asked.prompt, placed(str(n), wrong, place), place)


def _is(one: Part, relation: str, other: Part) -> Asked:
    holds = {
        "left of": one.x < other.x,
        "right of": one.x > other.x,
        "above": one.y < other.y,
        "below": one.y > other.y,
    }[relation]
    question = f"Is the {one.name} {relation} the {other.name}?"
    prompt = wording("Spatial_Relation", question=question).prompt
    return _choice(prompt, ("yes", "no"), 0 if holds else 1)


def _choice(prompt: str, options: Sequence[str], place: int) -> Asked:
    return Asked(prompt.replace("{options}", lettered(options)), response_for(options, place))


def _cells(parts: Sequence[Part]) -> dict[int, list[str]]:
    return cells_of([(part.name, part.x, part.y) for part in parts], _SIZE)


def _photo(parts: Sequence[Part], backdrops: Sequence[_Backdrop], seed: int) -> Image.Image:
    scene = Scene(*_SIZE)
    light = 90 + 0.55 * noise(Random(seed), *_SIZE, finest=16).astype(np.float32)
    scene.image.paste(Image.fromarray(light.clip(0, 255).astype(np.uint8)))
    for backdrop in backdrops:
        scene.backdrop(*backdrop)
    for part in parts:
        scene.sprite(part.name, (part.x, part.y), part.size)
    return scene.image


def _circled(draw: Callable[[], Image.Image], marks: Sequence[Mark], colour: str) -> Image.Image:
    """Circle points as BLINK does; their labels are as small as there."""
    return decoded(circles_on(draw(), marks, Marks(colour=colour)))
