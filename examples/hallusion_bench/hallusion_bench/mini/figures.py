"""Draws the mini edition's figures: each as it is, and as somebody edited it.

A drawer takes a generator that is at the same place for both, so that they differ in nothing else.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import TypeAlias, TypeVar

from bench_assets.core.images.synthetic_scenes import Scene

_SIZE = (384, 288)  # px
_MORE = 1.4  # how much more one of two has, where they are not the same
_FRAMES = 4

_Item = TypeVar("_Item")
Illusion: TypeAlias = Callable[[Random, bool], bytes]


def lines(rng: Random, same: bool) -> bytes:
    """Two lines between arrowheads that point outwards and inwards (Mueller-Lyer)."""
    scene, long = Scene(*_SIZE), rng.randrange(120, 180, 4)
    lengths = [long, long if same else round(long * _MORE)]
    outwards, middle = rng.choice((1, -1)), rng.randrange(172, 213)
    for line, length in enumerate(_shuffled(lengths, rng)):
        y, left, right = 90 + 110 * line, middle - length // 2, middle + length // 2
        scene.line([(left, y), (right, y)], "red", 4)
        for end, sign in ((left, 1), (right, -1)):
            tip = end + 22 * sign * (outwards if line else -outwards)
            scene.line([(tip, y - 22), (end, y), (tip, y + 22)], "black", 3)
    return scene.png()


def circles(rng: Random, same: bool) -> bytes:
    """Two circles, one among large ones and one among small ones (Ebbinghaus)."""
    scene, radius = Scene(*_SIZE), rng.randrange(18, 24)
    radii = _shuffled([radius, radius if same else round(radius * _MORE)], rng)
    around, y = _shuffled([26, 8], rng), rng.randrange(110, 179)
    for middle, own, others in zip((96, 288), radii, around, strict=True):
        far = 38 + others
        for right, down in ((0, -far), (0, far), (-far, 0), (far, 0)):
            _disc(scene, (middle + right, y + down), others, "grey")
        _disc(scene, (middle, y), own, "orange")
    return scene.png()


def patches(rng: Random, same: bool) -> bytes:
    """Two small squares, one on dark ground and one on light (simultaneous contrast)."""
    scene, grey = Scene(*_SIZE), rng.randrange(120, 150)
    greys = _shuffled([grey, grey if same else round(grey / _MORE)], rng)
    grounds, top = _shuffled(["black", "lightgrey"], rng), rng.randrange(60, 169)
    for left, own, ground in zip((0, 192), greys, grounds, strict=True):
        scene.backdrop((left, 0, left + 192, 288), ground)
        scene.form("rectangle", (left + 66, top, left + 126, top + 60), f"rgb({own},{own},{own})")
    return scene.png()


def sign(rng: Random, text: str) -> bytes:
    """A board with a word."""
    scene = Scene(*_SIZE, background=rng.choice(("lightyellow", "aliceblue", "honeydew")))
    x, y = rng.randrange(160, 220), rng.randrange(120, 160)
    scene.form("rectangle", (x - 130, y - 60, x + 130, y + 60), rng.choice(("navy", "darkred")))
    scene.label(text, (x, y), 56, "white")
    return scene.png()


def sequence(rng: Random, sprite: str, step: Sequence[int], *, reverse: bool) -> bytes:
    """Frames from left to right, numbered, in which something moves."""
    side = 120
    scene, size = Scene(side * _FRAMES, side + 30), rng.randrange(28, 36)
    for frame in range(_FRAMES):
        at = (_FRAMES - 1 - frame) if reverse else frame
        off = [round((at - (_FRAMES - 1) / 2) * 22 * direction) for direction in step]
        left = side * frame
        scene.line([(left, 0), (left, side + 30)], "black", 2)
        scene.sprite(sprite, (left + side // 2 + off[0], side // 2 + off[1]), size)
        scene.label(str(frame + 1), (left + side // 2, side + 14), 20)
    return scene.png()


def chart(rng: Random, title: str, values: Mapping[str, int]) -> bytes:
    """Bars from the left, with their values, in any order."""
    scene, colour = Scene(*_SIZE), rng.choice(("steelblue", "seagreen", "indianred"))
    scene.label(title, (192, 22), 18)
    for row, (name, value) in enumerate(_shuffled(list(values.items()), rng)):
        y = 66 + 58 * row
        end = 150 + max(2, round(150 * value / max(values.values())))
        scene.label(name, (74, y), 13)
        scene.form("rectangle", (150, y - 14, end, y + 14), colour)
        scene.label(str(value), (end + 30, y), 14)
    return scene.png()


def table(rng: Random, title: str, values: Mapping[str, int]) -> bytes:
    """Names and numbers in rows, in any order."""
    scene = Scene(*_SIZE)
    scene.label(title, (192, 26), 20)
    for row, (name, value) in enumerate(_shuffled(list(values.items()), rng)):
        y = 80 + 52 * row
        scene.line([(30, y - 26), (354, y - 26)], "grey", 2)
        scene.label(name, (130, y), 18)
        scene.label(str(value), (290, y), 18)
    return scene.png()


def land(rng: Random, title: str, values: Mapping[str, int]) -> bytes:
    """Named places, the more northern the higher up; latitudes in degrees."""
    scene = Scene(*_SIZE, background="lightblue")
    scene.label(title, (100, 16), 16)
    north, south = max(values.values()), min(values.values())
    for name, latitude in values.items():
        x, y = rng.randrange(90, 300), 60 + round(190 * (north - latitude) / (north - south))
        scene.form("ellipse", (x - 70, y - 17, x + 70, y + 17), "palegreen")
        scene.label(name, (x, y), 16)
    return scene.png()


def _disc(scene: Scene, middle: tuple[int, int], radius: int, colour: str) -> None:
    x, y = middle
    scene.form("ellipse", (x - radius, y - radius, x + radius, y + radius), colour)


def _shuffled(items: list[_Item], rng: Random) -> list[_Item]:
    return rng.sample(items, len(items))
