import io
from itertools import combinations
from random import Random

import pytest
from PIL import Image, ImageChops

from bench_assets.core.images.synthetic_scenes import Scene
from bench_assets.core.schema.errors import UnknownNameError


def changed_box(scene):
    """The box of the pixels that are not white."""
    blank = Image.new("RGB", scene.image.size, "white")
    return ImageChops.difference(scene.image, blank).getbbox()


@pytest.mark.parametrize("form", ["ellipse", "rectangle", "triangle", "diamond", "star"])
def test_the_box_of_a_form_is_the_part_of_the_image_that_changed(form):
    scene = Scene(160, 140)
    assert scene.form(form, (20, 30, 71, 90), "red").box == changed_box(scene)


def test_the_box_of_a_sprite_is_the_part_of_the_image_that_changed():
    scene = Scene(160, 140)
    assert scene.sprite("dog", (80, 70), 60).box == changed_box(scene)


def test_a_box_ends_where_the_image_ends():
    scene = Scene(160, 140)
    left, _, right, bottom = scene.form("ellipse", (-20, 100, 30, 190), "red").box
    assert (left, right, bottom) == (0, 30, 140)
    _, top, right, _ = scene.form("ellipse", (150, -20, 190, 30), "red").box
    assert (top, right) == (0, 160)


def test_a_mirrored_sprite_is_the_mirror_image():
    plain, mirrored = Scene(100, 100), Scene(100, 100)
    plain.sprite("horse", (50, 50), 80)
    mirrored.sprite("horse", (50, 50), 80, mirrored=True)
    flipped = plain.image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    assert ImageChops.difference(flipped, mirrored.image).getbbox() is None
    assert ImageChops.difference(plain.image, mirrored.image).getbbox()


@pytest.mark.parametrize(
    ("width", "height", "objects", "spots"),
    [
        # An object of 8 by 8 px needs 16 by 16 with its gaps; spots are 4 px apart.
        pytest.param(16, 16, [], {(8, 8)}, id="just enough"),
        pytest.param(15, 16, [], {None}, id="a px too narrow"),
        pytest.param(25, 16, [], {(8, 8), (12, 8), (16, 8)}, id="three spots in a row"),
        pytest.param(32, 16, [(0, 0, 16, 16)], {(24, 8)}, id="right of an object"),
        pytest.param(16, 32, [(0, 0, 16, 16)], {(8, 24)}, id="below an object"),
    ],
)
def test_free_spots_keep_a_gap_to_objects_and_the_border(width, height, objects, spots):
    scene, rng = Scene(width, height), Random(7)
    for box in objects:
        scene.form("rectangle", box, "red")
    assert {scene.free_spot(8, 8, rng) for _ in range(40)} == spots


def test_placed_objects_are_listed_in_order_without_the_backdrop():
    scene = Scene(100, 100)
    scene.backdrop((0, 50, 100, 100), "green")
    scene.form("ellipse", (10, 10, 30, 50), "red")
    scene.sprite("red apple", (60, 60), 20)
    ellipse, apple = scene.placed
    assert (ellipse.name, apple.name) == ("ellipse", "red apple")
    assert ellipse.centre == (20, 30)
    assert scene.image.getpixel((0, 99)) == (0, 128, 0)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("snowman", id="a symbol with a variation selector"),
        pytest.param("Japan", id="a flag, under the name of its country"),
    ],
)
def test_sprites_are_found_by_their_english_names(name):
    assert Scene(80, 80).sprite(name, (40, 40), 40).name == name


def test_an_unknown_sprite_is_an_error_with_similar_names():
    with pytest.raises(UnknownNameError, match=r"no sprite named 'hors'; known: .*horse"):
        Scene(80, 80).sprite("hors", (40, 40), 40)


@pytest.mark.parametrize("size", [pytest.param(30, id="even"), pytest.param(31, id="odd")])
def test_objects_on_free_spots_keep_the_gap(size):
    scene, rng = Scene(200, 160), Random(7)
    while spot := scene.free_spot(size, size, rng):
        scene.sprite("soccer ball", spot, size)
    boxes = [placed.box for placed in scene.placed]
    assert len(boxes) > 4
    for left, top, right, bottom in boxes:
        assert 4 <= left < right <= 196
        assert 4 <= top < bottom <= 156
    assert min(box_distance(first, second) for first, second in combinations(boxes, 2)) >= 4


def box_distance(first, second):
    """Pixels between two boxes, across or down; below 0 if they overlap."""
    left, top, right, bottom = first
    other_left, other_top, other_right, other_bottom = second
    across = max(left - other_right, other_left - right)
    return max(across, top - other_bottom, other_top - bottom)


def scene_with_cat():
    scene = Scene(64, 64)
    scene.sprite("cat", (32, 32), 50)
    scene.label("cat", (32, 8), 10)
    return scene


def test_equal_scenes_have_equal_bytes():
    assert scene_with_cat().png() == scene_with_cat().png()


def test_the_bytes_of_a_scene_decode_to_its_image():
    scene = scene_with_cat()
    decoded = Image.open(io.BytesIO(scene.png()))
    assert ImageChops.difference(decoded, scene.image).getbbox() is None
