"""Views of several images: paintings of a style, photographs among a generator's images."""

from collections.abc import Callable, Sequence
from functools import partial
from random import Random

import numpy as np
from PIL import Image

from bench_assets.core.reading.choices import lettered
from bench_assets.suites.blink.builders.drafts import wording
from bench_assets.suites.blink.prompts import main
from bench_assets.suites.blink.synthetic import image_choices as drawn
from bench_assets.suites.blink.synthetic.surfaces import as_jpeg, match_look, mosaic
from examples.tiny_vlm.lessons import Asked, decoded, plain_question, text_of
from examples.tiny_vlm.model import CELLS
from examples.tiny_vlm.views import Cells, View

_ORDINALS = ("the first image", "the second image", "the third image", "the fourth image")
_STYLES = {
    "Color_Field_Painting": "bands",
    "Cubism": "facets",
    "Impressionism": "strokes",
    "Pointillism": "dots",
    "Pop_Art": "print",
}


def styles(rng: Random) -> View:
    """Show a painting and two others, one of them of its style."""
    own, other = rng.sample(sorted(_STYLES), 2)
    right = rng.randrange(2)
    shown = [own, *((own, other) if right == 0 else (other, own))]
    prompt = _prompt("Art_Style", _ORDINALS[1:3])
    cells = [_everywhere(_STYLES[style]) for style in shown]
    draws = [partial(_painting, style, rng.getrandbits(32)) for style in shown]
    response = f"{', '.join(_STYLES[style] for style in shown)}. ({'AB'[right]})"
    return View(cells, [Asked(prompt, response)], partial(_all, draws))


def forgeries(rng: Random) -> View:
    """Show a photograph among three images of a generator."""
    right = rng.randrange(4)
    cells = [_everywhere("real" if n == right else "grid") for n in range(4)]
    draws = [partial(_surface, n == right, rng.getrandbits(32)) for n in range(4)]
    return View(
        cells,
        [Asked(_prompt("Forensic_Detection", _ORDINALS), _ORDINALS[right])],
        partial(_all, draws),
    )


def _everywhere(word: str) -> Cells:
    return {cell: (word,) for cell in range(CELLS**2)}


def _all(draws: Sequence[Callable[[], Image.Image]]) -> list[Image.Image]:
    return [draw() for draw in draws]


def _prompt(task: str, options: tuple[str, ...]) -> str:
    text = wording(task).prompt.replace("{options}", lettered(options))
    return text_of(main(plain_question(text, *options, category=task, context=text)))


def _looked(rng: Random, image: np.ndarray) -> Image.Image:
    look = drawn._step_look(drawn._random_look(rng), [rng.uniform(-2, 2) for _ in range(3)])
    return decoded(as_jpeg(match_look(rng, image, look)))


def _painting(style: str, seed: int) -> Image.Image:
    rng = Random(seed)
    return _looked(rng, drawn._STYLES[style](rng))


def _surface(real: bool, seed: int) -> Image.Image:
    rng = Random(seed)
    surface = mosaic(rng, 360, 270, 20)
    return _looked(rng, surface if real else drawn._simulate_generated(surface))
