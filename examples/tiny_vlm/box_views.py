"""Views of boxes: two drawn around a thing, of which one fits, and one seen from two sides."""

from functools import partial
from random import Random

import numpy as np
from PIL import Image

from bench_assets.core.images.drawing import LabelledBox, draw_labelled_boxes, scale_to_height
from bench_assets.core.images.synthetic_scenes import Scene
from bench_assets.core.reading.choices import lettered
from bench_assets.suites.blink.builders.drafts import Marks, insert_at, wording
from bench_assets.suites.blink.builders.object_localization import (
    ObjectLocalizationParameters,
    jitter_box,
)
from bench_assets.suites.blink.synthetic import geometry
from bench_assets.suites.blink.synthetic.surfaces import mosaic, noise
from examples.tiny_vlm.lessons import Asked
from examples.tiny_vlm.model import CELLS
from examples.tiny_vlm.views import View

_SIZE = (400, 300)  # px
_THINGS = (
    "dog face", "cat face", "lion", "panda", "bear", "doughnut", "soccer ball",
    "basketball", "red apple", "cookie", "wrapped gift", "television", "tangerine",
)  # fmt: skip
_OPTIONS = ("Box A", "Box B")
_TURNS = (15, 33)  # degrees between the two
_STEP = 10  # degrees that have one name; a box looks alike after 90


def boxes(rng: Random) -> View:
    """Outline a thing with two boxes; every cell has the name of the one that fits."""
    scene, name = Scene(*_SIZE), rng.choice(_THINGS)
    light = 90 + 0.55 * noise(rng, *_SIZE, finest=16).astype(np.float32)
    scene.image.paste(Image.fromarray(light.clip(0, 255).astype(np.uint8)))
    spot = rng.randint(120, 280), rng.randint(110, 190)
    right = scene.sprite(name, spot, rng.randint(165, 215)).box
    wrong = None
    while wrong is None:
        wrong = jitter_box(right, _SIZE, ObjectLocalizationParameters(), rng)
    place = rng.randrange(2)
    shown = insert_at(right, [wrong], place)
    prompt = wording("Object_Localization", noun=name).prompt
    asked = Asked(prompt.replace("{options}", lettered(_OPTIONS)), _OPTIONS[place])
    cells = {cell: (_OPTIONS[place],) for cell in range(CELLS**2)}
    return View([cells], [asked], partial(_outlined, scene.image, shown))


def turned(rng: Random) -> View:
    """Go around a box; every cell has the name of the angle."""
    right, start = rng.random() < 0.5, rng.uniform(0, 360)
    turn = rng.uniform(*_TURNS) * (1 if right else -1)
    angles = [start, start + turn]
    names = [f"{int(angle % 90) // _STEP}" for angle in angles]
    cells = [{cell: ("turned", name) for cell in range(CELLS**2)} for name in names]
    prompt = wording("Multi-view_Reasoning").prompt.replace(
        "{options}", lettered(("left", "right"))
    )
    response = f"turned {names[0]}, turned {names[1]}. ({'B' if right else 'A'})"
    return View(cells, [Asked(prompt, response)], partial(_drawn, angles, rng.getrandbits(32)))


def _outlined(image: Image.Image, shown: tuple[tuple[float, ...], ...]) -> list[Image.Image]:
    scale = Marks().height / _SIZE[1]
    scaled = [
        LabelledBox(label, tuple(side * scale for side in box), colour)  # type: ignore[arg-type]
        for label, box, colour in zip("AB", shown, ("red", "green"), strict=True)
    ]
    return [draw_labelled_boxes(scale_to_height(image, Marks().height), scaled)]


def _drawn(angles: list[float], seed: int) -> list[Image.Image]:
    rng = Random(seed)
    sides = [mosaic(rng, 160, 160, 40) for _ in range(5)]
    table, wall = mosaic(rng, 400, 400, 60), noise(rng, 400, 300, finest=4)
    height = rng.uniform(20, 35)
    poses = [geometry._pose(angle, height + rng.uniform(-1, 1)) for angle in angles]
    return [Image.fromarray(geometry._render_box(sides, table, wall, *pose)) for pose in poses]
