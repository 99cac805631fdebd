"""What a scene says is in an image is what the pixels show."""

import io
from random import Random

import pytest
from PIL import Image, ImageChops

from bench_assets.core.images.synthetic_scenes import Scene
from bench_assets.core.schema.errors import UnknownNameError


def changed(scene, background="white"):
    """The part of an image that differs from its background, in px."""
    blank = Image.new("RGB", scene.image.size, background)
    return ImageChops.difference(scene.image, blank).getbbox()


@pytest.mark.parametrize(
    "place",
    [
        pytest.param(lambda s: s.sprite("dog", (80, 70), 60), id="a sprite"),
        pytest.param(lambda s: s.form("ellipse", (20, 30, 71, 90), "red"), id="an ellipse"),
        pytest.param(lambda s: s.form("rectangle", (20, 30, 71, 90), "red"), id="a rectangle"),
        pytest.param(lambda s: s.form("triangle", (20, 30, 71, 90), "red"), id="a triangle"),
        pytest.param(lambda s: s.form("diamond", (20, 30, 71, 90), "red"), id="a diamond"),
        pytest.param(lambda s: s.form("star", (20, 30, 71, 90), "red"), id="a star"),
    ],
)
def test_a_box_is_exactly_the_part_that_changed(place):
    scene = Scene(160, 140)
    assert place(scene).box == changed(scene)


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
    turned = plain.image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    assert ImageChops.difference(turned, mirrored.image).getbbox() is None
    assert ImageChops.difference(plain.image, mirrored.image).getbbox()


@pytest.mark.parametrize(
    ("width", "height", "taken", "spots"),
    [
        # A thing of 8 by 8 px needs 16 by 16 with its gaps; spots are 4 px apart.
        pytest.param(16, 16, None, {(8, 8)}, id="just enough"),
        pytest.param(15, 16, None, {None}, id="a px too narrow"),
        pytest.param(25, 16, None, {(8, 8), (12, 8), (16, 8)}, id="three spots in a row"),
        pytest.param(32, 16, (0, 0, 16, 16), {(24, 8)}, id="right of a thing"),
        pytest.param(16, 32, (0, 0, 16, 16), {(8, 24)}, id="below a thing"),
    ],
)
def test_room_is_what_nothing_is_near(width, height, taken, spots):
    scene, rng = Scene(width, height), Random(7)
    if taken:
        scene.form("rectangle", taken, "red")
    assert {scene.free_spot(8, 8, rng) for _ in range(40)} == spots


def test_what_is_placed_is_remembered_in_order_and_backdrops_are_not():
    scene = Scene(100, 100)
    scene.backdrop((0, 50, 100, 100), "green")
    scene.form("ellipse", (10, 10, 30, 50), "red")
    scene.sprite("red apple", (60, 60), 20)
    assert [thing.name for thing in scene.placed] == ["ellipse", "red apple"]
    assert scene.placed[0].centre == (20, 30)
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


def test_an_unknown_sprite_is_met_with_names_that_look_alike():
    with pytest.raises(UnknownNameError, match=r"no sprite named 'hors'; known: .*horse"):
        Scene(80, 80).sprite("hors", (40, 40), 40)


def test_things_that_are_given_room_never_touch():
    scene, rng = Scene(200, 160), Random(7)
    while spot := scene.free_spot(30, 30, rng, gap=6):
        scene.sprite("soccer ball", spot, 30)
    boxes = [thing.box for thing in scene.placed]
    assert len(boxes) > 4
    for number, (left, top, right, bottom) in enumerate(boxes):
        assert 6 <= left < right <= 194
        assert 6 <= top < bottom <= 154
        for box in boxes[:number]:
            apart = max(left - box[2], box[0] - right, top - box[3], box[1] - bottom)
            assert apart >= 6


def test_equal_images_have_equal_bytes_that_decode_to_them():
    scenes = [Scene(64, 64), Scene(64, 64)]
    for scene in scenes:
        scene.sprite("cat", (32, 32), 50)
        scene.label("cat", (32, 8), 10)
    assert scenes[0].png() == scenes[1].png()
    decoded = Image.open(io.BytesIO(scenes[0].png()))
    assert ImageChops.difference(decoded, scenes[0].image).getbbox() is None
