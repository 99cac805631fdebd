"""What a scene says is in a picture is what the pixels show."""

import io
from random import Random

import pytest
from PIL import Image, ImageChops

from bench_assets.core.errors import UnknownNameError
from bench_assets.core.scene import Scene


def changed(scene, background="white"):
    """The part of a picture that differs from its background, in px."""
    blank = Image.new("RGB", scene.picture.size, background)
    return ImageChops.difference(scene.picture, blank).getbbox()


@pytest.mark.parametrize(
    "place",
    [
        pytest.param(lambda s: s.sprite("dog", (80, 70), 60), id="a sprite"),
        pytest.param(lambda s: s.sprite("dog", (80, 70), 61, turned=30), id="a turned sprite"),
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


@pytest.mark.parametrize(
    ("form", "filled"),
    [
        # Upper left, upper middle, left middle, centre, lower left corner.
        ("rectangle", (True, True, True, True, True)),
        ("triangle", (False, True, False, True, True)),
        ("diamond", (False, True, True, True, False)),
        ("ellipse", (False, True, True, True, False)),
    ],
)
def test_a_form_has_its_shape(form, filled):
    scene = Scene(160, 140)
    scene.form(form, (20, 30, 71, 91), "red")
    spots = [(20, 30), (45, 30), (20, 60), (45, 60), (20, 90)]
    assert tuple(scene.picture.getpixel(spot) == (255, 0, 0) for spot in spots) == filled


@pytest.mark.parametrize(
    "place",
    [
        pytest.param(lambda s: s.label("Lions 3", (80, 70), 20), id="a label"),
        pytest.param(lambda s: s.line([(20, 20), (90, 20), (90, 80)], "red", 5), id="a line"),
    ],
)
def test_a_box_holds_all_that_changed_and_little_more(place):
    scene = Scene(160, 140)
    box, seen = place(scene).box, changed(scene)
    assert all(0 <= inner - outer <= 2 for inner, outer in zip(seen[:2], box[:2], strict=True))
    assert all(0 <= outer - inner <= 2 for inner, outer in zip(seen[2:], box[2:], strict=True))


def test_the_longer_side_of_a_sprite_has_the_size_asked_for():
    left, top, right, bottom = Scene(200, 200).sprite("dog", (100, 100), 90).box
    assert max(right - left, bottom - top) == 90


def test_a_box_ends_where_the_picture_ends():
    scene = Scene(160, 140)
    left, _, right, bottom = scene.form("ellipse", (-20, 100, 30, 190), "red").box
    assert (left, right, bottom) == (0, 30, 140)


def test_a_mirrored_sprite_is_the_mirror_image():
    plain, mirrored = Scene(100, 100), Scene(100, 100)
    plain.sprite("horse", (50, 50), 80)
    mirrored.sprite("horse", (50, 50), 80, mirrored=True)
    turned = plain.picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    assert ImageChops.difference(turned, mirrored.picture).getbbox() is None
    assert ImageChops.difference(plain.picture, mirrored.picture).getbbox()


def test_what_is_placed_is_remembered_in_order_and_backdrops_are_not():
    scene = Scene(100, 100)
    scene.backdrop((0, 50, 100, 100), "green")
    scene.form("ellipse", (10, 10, 30, 50), "red")
    scene.sprite("red apple", (60, 60), 20)
    assert [(thing.name, thing.colour) for thing in scene.placed] == [
        ("ellipse", "red"),
        ("red apple", ""),
    ]
    assert scene.placed[0].centre == (20, 30)
    assert scene.picture.getpixel((0, 99)) == (0, 128, 0)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("snowman", id="a variation selector that the file name leaves out"),
        pytest.param("person walking", id="words with blanks"),
        pytest.param("woman health worker", id="joined symbols with a variation selector"),
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
    while spot := scene.room(30, 30, rng, gap=6):
        scene.sprite("soccer ball", spot, 30)
    boxes = [thing.box for thing in scene.placed]
    assert len(boxes) > 4
    for number, (left, top, right, bottom) in enumerate(boxes):
        assert 6 <= left < right <= 194
        assert 6 <= top < bottom <= 154
        for other in boxes[:number]:
            apart = max(left - other[2], other[0] - right, top - other[3], other[1] - bottom)
            assert apart >= 6


def test_equal_pictures_have_equal_bytes_that_decode_to_them():
    scenes = [Scene(64, 64), Scene(64, 64)]
    for scene in scenes:
        scene.sprite("cat", (32, 32), 50)
        scene.label("cat", (32, 8), 10)
    assert scenes[0].png() == scenes[1].png()
    decoded = Image.open(io.BytesIO(scenes[0].png()))
    assert ImageChops.difference(decoded, scenes[0].picture).getbbox() is None
