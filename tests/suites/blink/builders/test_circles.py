import numpy as np
import pytest
from PIL import Image

from bench_assets.core.images.drawing import Mark, draw_labelled_circles
from tests.suites.blink.builders.circles import find_circles, match_letters

MARKS = {"A": (300, 200), "B": (900, 250), "C": (350, 800), "D": (1000, 700)}


def noisy(seed=0, size=(1280, 1024), high=200):
    levels = np.random.default_rng(seed).integers(40, high, (size[1] // 8, size[0] // 8, 3))
    blotches = Image.fromarray(levels.astype(np.uint8))
    return blotches.resize(size, Image.Resampling.BICUBIC)


@pytest.mark.parametrize("radius", [5, 10, 15])
@pytest.mark.parametrize("colour", ["red", "white"])
def test_circles_and_their_letters_are_found(radius, colour):
    marks = [Mark(letter, place) for letter, place in MARKS.items()]
    image = draw_labelled_circles(noisy(), marks, radius=radius, colour=colour)
    places = match_letters(np.asarray(image), "ABCD", colour)
    assert {letter: pytest.approx(place, abs=1.5) for letter, place in MARKS.items()} == places


def test_a_image_without_circles_has_none():
    assert find_circles(np.asarray(noisy()), 1, "red") is None
    assert match_letters(np.asarray(noisy()), "AB", "white") is None
