from math import comb

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from bench_assets.core.images.drawing import Mark, draw_labelled_circles
from bench_assets.core.schema.chat import Prompt, Request
from bench_assets.core.schema.errors import ModelError
from bench_assets.suites.blink.specialists import (
    SPECIALISTS,
    Specialists,
    find_circles,
    jigsaw,
    match_features,
    match_letters,
    relative_reflectance,
)
from tests.fakes.rows import question

MARKS = {"A": (300, 200), "B": (900, 250), "C": (350, 800), "D": (1000, 700)}


def noisy(seed=0, size=(1280, 1024), high=200):
    levels = np.random.default_rng(seed).integers(40, high, (size[1] // 8, size[0] // 8, 3))
    blotches = Image.fromarray(levels.astype(np.uint8))
    return blotches.resize(size, Image.Resampling.BICUBIC)


def request_of(**fields):
    return Request(prompt=Prompt.of("?"), question=question(**fields))


def luck(right, n, chance):
    """Probability of so many right answers or more by chance alone."""
    tail = range(right, n + 1)
    return sum(comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in tail)


@pytest.mark.long
@pytest.mark.parametrize("task", sorted(SPECIALISTS))
def test_each_specialist_beats_chance_on_the_whole_edition(full_size_edition, task):
    questions = [q for q in full_size_edition.built.questions if q.category == task]
    model = Specialists("specialists", full_size_edition.store.open)
    responses = model.response([Request(prompt=Prompt.of("?"), question=q) for q in questions])
    right = sum(
        response.text == f"({q.answer[0]})"
        for response, q in zip(responses, questions, strict=True)
    )
    assert luck(right, len(questions), 1 / len(questions[0].options)) < 0.001


@pytest.mark.parametrize("radius", [5, 10, 15])
@pytest.mark.parametrize("colour", ["red", "white"])
def test_circles_and_their_letters_are_found(radius, colour):
    marks = [Mark(letter, place) for letter, place in MARKS.items()]
    image = draw_labelled_circles(noisy(), marks, radius=radius, colour=colour)
    found = match_letters(np.asarray(image), "ABCD", colour)
    assert {letter: pytest.approx(place, abs=1.5) for letter, place in MARKS.items()} == found


def test_letters_in_another_hand_are_read_too():
    """As a release drawn with another font than ours may have them."""
    image = noisy()
    pen = ImageDraw.Draw(image)
    for letter, (x, y) in MARKS.items():
        pen.ellipse((x - 10, y - 10, x + 10, y + 10), outline="red", width=3)
        font = ImageFont.load_default(36)
        pen.text((x + 16, y - 18), letter, fill="red", font=font)
    found = match_letters(np.asarray(image), "ABCD", "red")
    assert {letter: pytest.approx(place, abs=1.5) for letter, place in MARKS.items()} == found


def test_a_image_without_circles_has_none():
    assert find_circles(np.asarray(noisy()), 1, "red") is None
    assert match_letters(np.asarray(noisy()), "AB", "white") is None


@pytest.mark.parametrize("height", [150, 200, 300, 500, 700, 1024])
def test_a_blank_image_of_any_size_has_no_circles(height):
    blank = np.full((height, height, 3), 128, np.uint8)
    assert find_circles(blank, 2, "red") is None
    assert relative_reflectance((blank,)) is None


def test_places_that_look_the_same_are_matched():
    image = noisy(size=(800, 400))
    first, second = image.crop((0, 0, 600, 400)), image.crop((60, 0, 660, 400))
    matches = match_features(np.asarray(first), np.asarray(second))
    assert len(matches.first) > 20
    assert np.median(matches.first - matches.second, axis=0) == pytest.approx((60, 0), abs=0.5)


def test_a_image_without_detail_matches_nothing():
    blank = np.full((300, 300, 3), 128, np.uint8)
    assert len(match_features(blank, blank).first) == 0


@pytest.mark.parametrize(("right_first", "letter"), [(True, "A"), (False, "B")])
def test_the_piece_that_goes_on_fits(right_first, letter):
    """A grey ramp from left to right: the right piece starts where its neighbour ends."""
    ramp = np.tile(np.linspace(30, 230, 200, dtype=np.uint8)[None, :, None], (200, 1, 3))
    corner = ramp.copy()
    corner[100:, 100:] = 0
    right, wrong = ramp[100:, 100:], ramp[100:, :100]
    pieces = (right, wrong) if right_first else (wrong, right)
    assert jigsaw((corner, *pieces)) == letter


def test_without_a_missing_corner_there_is_nothing_to_fit():
    whole = np.asarray(noisy(size=(300, 300)))
    assert jigsaw((whole, whole, whole)) is None


@pytest.mark.parametrize(
    ("left", "right", "letter"),
    [
        pytest.param(0.2, 0.8, "A", id="A lies on the darker surface"),
        pytest.param(0.8, 0.2, "B", id="B lies on the darker surface"),
        pytest.param(0.5, 0.5, "C", id="one surface"),
    ],
)
def test_a_surface_differs_from_the_light_on_it(left, right, letter):
    """Light falls off to half from left to right, without an edge."""
    surface = np.where(np.arange(1280) < 640, left, right)
    linear = np.tile(surface * np.linspace(1.0, 0.5, 1280), (1024, 1))
    grey = (255 * linear ** (1 / 2.2)).astype(np.uint8)
    marks = [Mark("A", (300, 500)), Mark("B", (980, 520))]
    image = Image.fromarray(grey).convert("RGB")
    circled = draw_labelled_circles(image, marks, radius=10, colour="white")
    assert relative_reflectance((np.asarray(circled),)) == letter


def test_a_task_without_a_specialist_gets_no_answer():
    model = Specialists("specialists", lambda digest: noisy())
    (response,) = model.response([request_of(category="Counting")])
    assert response.text == ""
    assert response.finish_reason == "no specialist for this task"
    assert response.error == ""


def test_a_specialist_that_finds_nothing_gives_no_answer():
    model = Specialists("specialists", lambda digest: noisy())
    (response,) = model.response([request_of(category="Relative_Reflectance", images=("a" * 64,))])
    assert response.text == ""
    assert response.finish_reason == "the specialist finds nothing to go by"


@pytest.mark.parametrize("task", SPECIALISTS)
@pytest.mark.parametrize("n", [0, 4])
def test_images_in_another_form_get_no_answer(task, n):
    model = Specialists("specialists", lambda digest: noisy())
    (response,) = model.response([request_of(category=task, images=("a" * 64,) * n)])
    assert (response.text, response.error) == ("", "")
    assert response.finish_reason.endswith(f"images, got {n}")


def test_specialists_cannot_judge():
    model = Specialists("specialists", lambda digest: noisy())
    with pytest.raises(ModelError, match="specialists answer questions; they cannot judge"):
        model.response([Request(prompt=Prompt.of("Is this right?"))])
