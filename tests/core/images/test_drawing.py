import io

import numpy as np
import pytest
from PIL import Image
from PIL.JpegImagePlugin import JpegImageFile

from bench_assets.core.images.drawing import (
    LabelledBox,
    Mark,
    concatenate_images,
    draw_labelled_boxes,
    draw_labelled_circles,
    encode_jpeg,
    mask_box,
    scale_to_height,
)

GREY = (90, 90, 90)
RED = (255, 0, 0)
BOX = (50, 60, 200, 220)


def plain(width=400, height=300):
    return Image.new("RGB", (width, height), GREY)


def pixels_of_colour(image, colour):
    """Columns and rows of the pixels that have exactly this colour."""
    rows, columns = np.nonzero((np.asarray(image) == colour).all(axis=2))
    return columns, rows


@pytest.mark.parametrize(
    ("size", "height", "expected"),
    [
        pytest.param((300, 200), 1024, (1536, 1024), id="a landscape image keeps 3 to 2"),
        pytest.param((4096, 2048), 1024, (2048, 1024), id="a large image is made smaller"),
        pytest.param((1, 5000), 1024, (1, 1024), id="a line keeps one px of width"),
    ],
)
def test_images_are_scaled_to_a_height(size, height, expected):
    assert scale_to_height(plain(*size), height).size == expected


@pytest.mark.parametrize("radius", [5, 10, 15])
def test_a_circle_has_its_radius_and_is_empty_inside(radius):
    image = draw_labelled_circles(plain(), [Mark("", (200, 150))], radius=radius, colour="red")
    columns, rows = pixels_of_colour(image, RED)
    assert (columns.min(), columns.max()) == (200 - radius, 200 + radius)
    assert (rows.min(), rows.max()) == (150 - radius, 150 + radius)
    assert np.hypot(columns - 200, rows - 150).min() > radius / 2


@pytest.mark.parametrize(
    "point",
    [
        pytest.param((5, 5), id="upper left corner"),
        pytest.param((395, 5), id="upper right corner"),
        pytest.param((5, 295), id="lower left corner"),
        pytest.param((395, 295), id="lower right corner"),
        pytest.param((395, 150), id="right edge"),
    ],
)
def test_the_label_of_a_circle_at_the_border_is_whole(point):
    assert n_label_pixels_of_circle(point) == n_label_pixels_of_circle((200, 150))


def n_label_pixels_of_circle(point):
    """Number of pixels that the label of a circle at this point changes."""
    labelled = draw_labelled_circles(plain(), [Mark("REF", point)], radius=10, colour="red")
    bare = draw_labelled_circles(plain(), [Mark("", point)], radius=10, colour="red")
    return changed_pixels(labelled, bare).sum()


def changed_pixels(image, other_image):
    """Whether each pixel differs, by row and column."""
    return (np.asarray(image) != np.asarray(other_image)).any(axis=2)


def test_a_box_is_drawn_inwards_from_its_sides():
    image = draw_labelled_boxes(plain(), [LabelledBox(label="", box=BOX, colour="red")])
    columns, rows = pixels_of_colour(image, RED)
    assert (columns.min(), rows.min(), columns.max(), rows.max()) == BOX
    assert image.getpixel((54, 140)) == GREY  # inside the left line, columns 50 to 53


@pytest.mark.parametrize(
    "box",
    [
        pytest.param((-40, 60, 200, 220), id="left"),
        pytest.param((50, -40, 200, 220), id="above"),
        pytest.param((395, 60, 500, 220), id="right"),
        pytest.param((50, 295, 200, 400), id="below"),
    ],
)
def test_the_label_of_a_box_that_leaves_the_image_is_whole(box):
    assert n_label_pixels_of_box(box) == n_label_pixels_of_box(BOX)


def n_label_pixels_of_box(box):
    """Number of pixels, other than those of the box, that the label of a box changes."""
    labelled = draw_labelled_boxes(plain(), [LabelledBox(label="REF", box=box, colour="red")])
    bare = draw_labelled_boxes(plain(), [LabelledBox(label="", box=box, colour="red")])
    is_red = (np.asarray(labelled) == RED).all(axis=2)
    return (changed_pixels(labelled, bare) & ~is_red).sum()


def test_a_mask_covers_its_box_and_nothing_else():
    columns, rows = pixels_of_colour(mask_box(plain(), (100, 50, 200, 150)), (0, 0, 0))
    assert (columns.min(), rows.min(), columns.max(), rows.max()) == (100, 50, 199, 149)
    assert len(columns) == 100 * 100


def test_drawing_leaves_the_original_image_as_it_is():
    image = plain()
    draw_labelled_circles(image, [Mark("A", (200, 150))], radius=10, colour="red")
    draw_labelled_boxes(image, [LabelledBox(label="A", box=BOX, colour="red")])
    mask_box(image, (0, 0, 10, 10))
    assert image.getcolors() == [(400 * 300, GREY)]


def image_with_circle():
    return draw_labelled_circles(plain(), [Mark("A", (200, 150))], radius=10, colour="red")


def test_equal_images_are_encoded_to_equal_bytes():
    assert encode_jpeg(image_with_circle()) == encode_jpeg(image_with_circle())


def test_an_encoded_image_is_close_to_the_original():
    image = image_with_circle()
    with Image.open(io.BytesIO(encode_jpeg(image))) as decoded:
        difference = np.abs(np.asarray(decoded, float) - np.asarray(image, float))
    assert difference.mean() < 1


def test_images_are_encoded_with_quality_95_and_colours_at_full_size():
    with Image.open(io.BytesIO(encode_jpeg(plain()))) as decoded:
        assert isinstance(decoded, JpegImageFile)
        # A tenth of the first step of the standard, which is 16.
        first_step, *_ = decoded.quantization[0]
        assert first_step == 2
        samplings = [(across, down) for _, across, down, _ in decoded.layer]
        assert samplings == [(1, 1)] * 3


def label_corner(image, image_without_label):
    """Column and row of the upper left corner of a label."""
    rows, columns = np.nonzero(changed_pixels(image, image_without_label))
    return columns.min(), rows.min()


def equal_boxes(n, last_colour="red"):
    """n times the same box with the label E."""
    colours = ["red"] * (n - 1) + [last_colour]
    boxes = [LabelledBox(label="E", box=BOX, colour=colour) for colour in colours]
    return draw_labelled_boxes(plain(), boxes)


def test_labels_of_one_box_take_its_corners_in_turn():
    """After the upper left one: the middle of the box is column 125, row 140."""
    labels = [label_corner(equal_boxes(n), equal_boxes(n - 1)) for n in (2, 3, 4)]
    is_right_and_low = [(x > 125, y > 140) for x, y in labels]
    assert is_right_and_low == [(True, False), (False, True), (True, True)]


def test_the_fifth_label_of_a_box_takes_the_first_corner_again():
    image = np.asarray(equal_boxes(5, last_colour="lime"))
    upper_left_corner = image[65:100, 55:100]  # inside the lines of the box
    assert (upper_left_corner == (0, 255, 0)).all(axis=2).any()


def label_columns(upper_label):
    """First and last column of the label of a circle below another one with this label."""
    upper, lower = Mark(upper_label, (200, 150)), (200, 172)
    labelled, bare = (
        draw_labelled_circles(plain(), [upper, Mark(label, lower)], radius=10, colour="red")
        for label in ("B", "")
    )
    _, columns = np.nonzero(changed_pixels(labelled, bare))
    return columns.min(), columns.max()


def test_a_label_stands_right_of_its_circle():
    first_column, _ = label_columns(upper_label="")
    assert first_column > 200


def test_a_label_stands_left_of_its_circle_if_another_label_is_on_the_right():
    _, last_column = label_columns(upper_label="A")
    assert last_column < 200


def test_images_stand_in_a_row_on_black_with_10_px_between_them():
    """A red one of 4 x 20 px and a blue one of 6 x 10 px, which hangs 5 px below the top."""
    row = concatenate_images([Image.new("RGB", (4, 20), "red"), Image.new("RGB", (6, 10), "blue")])
    assert row.size == (4 + 10 + 6, 20)
    expected = np.zeros((20, 20, 3), np.uint8)
    expected[:, :4] = RED
    expected[5:15, 14:] = (0, 0, 255)
    assert np.array_equal(np.asarray(row), expected)
