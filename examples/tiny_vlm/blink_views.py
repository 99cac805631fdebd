"""Views like the images of BLINK's mini edition, with questions worded as BLINK's are."""

from collections.abc import Sequence
from functools import partial
from random import Random
from typing import NamedTuple

import numpy as np
from PIL import Image

from bench_assets.core.images.synthetic_scenes import Box, Scene, Spot
from bench_assets.core.reading.choices import lettered
from bench_assets.suites.blink.builders.drafts import insert_at, wording
from bench_assets.suites.blink.builders.whole_images import CountingParameters, wrong_numbers
from bench_assets.suites.blink.synthetic.objects import THINGS
from bench_assets.suites.blink.synthetic.surfaces import noise
from examples.tiny_vlm.lessons import Asked
from examples.tiny_vlm.model import CELLS
from examples.tiny_vlm.views import Part, View, cells_of

_SIZE = (400, 300)  # px
_SPOTS = [(x, y) for x in range(30, 400, 48) for y in (35, 100, 200, 265)]  # of small things
_HALF = 150  # px from the top: a line is drawn there
_QUESTIONS = 3  # about one view


class _Backdrop(NamedTuple):
    box: Box
    colour: str


def strewn(rng: Random) -> View:
    """Strew small things of three kinds above and below a line, to be counted."""
    kinds, spots = rng.sample(sorted(THINGS), 3), rng.sample(_SPOTS, len(_SPOTS))
    above, number = rng.random() < 0.5, rng.randint(0, 5)
    there = [spot for spot in spots if (spot[1] < _HALF) == above]
    elsewhere = [spot for spot in spots if spot not in there]
    taken = there[:number] + elsewhere[: rng.randint(not number, 3)]
    left = iter([spot for spot in spots if spot not in taken])
    others = [(kind, next(left)) for kind in kinds[1:] for _ in range(rng.randint(1, 5))]
    parts = [
        Part(name, x + rng.randint(-4, 4), y + rng.randint(-8, 8), 40)
        for name, (x, y) in [*((kinds[0], spot) for spot in taken), *others]
    ]
    sides = ("above", "below") if above else ("below", "above")
    asked = [*((kinds[0], side) for side in sides), (kinds[1], rng.choice(sides))]
    talk = [_how_many(parts, *one, rng) for one in asked]
    line = _Backdrop((0, _HALF - 2, _SIZE[0], _HALF + 2), "black")
    return View([_cells(parts)], talk, partial(_photos, parts, [line], rng.getrandbits(32)))


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
    draw = partial(_photos, parts, [], rng.getrandbits(32))
    return View([_cells(parts)], rng.sample(talk, _QUESTIONS), draw)


def _beside(rng: Random) -> list[Spot]:
    left, right = rng.randint(60, 120), rng.randint(270, 330)
    return [(left, rng.randint(120, 180)), (right, rng.randint(120, 180))]


def _below(rng: Random) -> list[Spot]:
    x = rng.randint(120, 280)
    return [(x, rng.randint(60, 95)), (x + rng.randint(-30, 30), rng.randint(205, 240))]


def _how_many(parts: Sequence[Part], kind: str, side: str, rng: Random) -> Asked:
    """Ask for a number; the response counts from left to right, by columns of the model's cells."""
    counted = [
        part for part in parts if part.name == kind and (part.y < _HALF) == (side == "above")
    ]
    columns = sorted(part.x * CELLS // _SIZE[0] + 1 for part in counted)
    n = len(counted)
    wrong = [str(number) for number in wrong_numbers(n, CountingParameters().spread, rng)]
    options = insert_at(str(n), wrong, rng.randrange(4))
    asked = wording("Counting", question=f"How many {THINGS[kind]} are {side} the line?")
    places = ", ".join(f"{nth} at {column}" for nth, column in enumerate(columns, 1)) or "none"
    letter = "ABCD"[options.index(str(n))]
    response = f" {places}. {n}. Answer: ({letter})"
    return Asked(asked.prompt.replace("{options}", lettered(options)), response)


def _is(one: Part, relation: str, other: Part) -> Asked:
    holds = {
        "left of": one.x < other.x,
        "right of": one.x > other.x,
        "above": one.y < other.y,
        "below": one.y > other.y,
    }[relation]
    question = f"Is the {one.name} {relation} the {other.name}?"
    prompt = wording("Spatial_Relation", question=question).prompt
    beside = relation.endswith("of")
    first, last = sorted((one, other), key=lambda part: part.x if beside else part.y)
    place = "first" if one is first else "last"
    asked = "before" if relation in ("left of", "above") else "after"
    seen = f" {first.name}, {last.name}; {one.name} {place}, {asked}. ({'A' if holds else 'B'})"
    return Asked(prompt.replace("{options}", lettered(("yes", "no"))), seen)


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


def _photos(parts: Sequence[Part], backdrops: Sequence[_Backdrop], seed: int) -> list[Image.Image]:
    return [_photo(parts, backdrops, seed)]
