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


def plain(width=400, height=300):
    return Image.new("RGB", (width, height), GREY)


def where(image, colour):
    """Columns and rows of the px that have just this colour."""
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
    columns, rows = where(
        draw_labelled_circles(plain(), [Mark("", (200, 150))], radius=radius, colour="red"), RED
    )
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
def test_a_label_at_the_border_is_as_whole_as_in_the_middle(point):
    def letters(at):
        labelled = draw_labelled_circles(plain(), [Mark("REF", at)], radius=10, colour="red")
        bare = draw_labelled_circles(plain(), [Mark("", at)], radius=10, colour="red")
        return (np.asarray(labelled) != np.asarray(bare)).any(axis=2).sum()

    assert letters(point) == letters((200, 150))


def test_a_box_is_drawn_inwards_from_its_sides():
    drawn = draw_labelled_boxes(plain(), [LabelledBox("", (50, 60, 200, 220), "red")])
    columns, rows = where(drawn, RED)
    assert (columns.min(), rows.min(), columns.max(), rows.max()) == (50, 60, 200, 220)
    assert drawn.getpixel((54, 140)) == GREY


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
    def letters(of):
        images = [
            draw_labelled_boxes(plain(), [LabelledBox(label, of, "red")]) for label in ("REF", "")
        ]
        first, second = map(np.asarray, images)
        return ((first != second).any(axis=2) & (first != RED).any(axis=2)).sum()

    assert letters(box) == letters((50, 60, 200, 220))


def test_a_mask_covers_its_box_and_nothing_else():
    columns, rows = where(mask_box(plain(), (100, 50, 200, 150)), (0, 0, 0))
    assert (columns.min(), rows.min(), columns.max(), rows.max()) == (100, 50, 199, 149)
    assert len(columns) == 100 * 100


def test_the_image_given_stays_as_it_is():
    image = plain()
    draw_labelled_circles(image, [Mark("A", (200, 150))], radius=10, colour="red")
    draw_labelled_boxes(image, [LabelledBox("A", (50, 60, 200, 220), "red")])
    mask_box(image, (0, 0, 10, 10))
    assert image.getcolors() == [(400 * 300, GREY)]


def test_encoding_is_repeatable_and_close():
    drawn = draw_labelled_circles(plain(), [Mark("A", (200, 150))], radius=10, colour="red")
    assert encode_jpeg(drawn) == encode_jpeg(drawn.copy())
    with Image.open(io.BytesIO(encode_jpeg(drawn))) as back:
        difference = np.abs(np.asarray(back, float) - np.asarray(drawn, float))
        # At quality 95 a tenth of the standard's steps, which begin with 16; colours at full size.
        assert isinstance(back, JpegImageFile)
        assert back.quantization[0][0] == 2
        assert [sampling[1:3] for sampling in back.layer] == [(1, 1)] * 3
    assert difference.mean() < 1


# Where labels come to stand: by pencil, from the edge of what they name.


LIME = (0, 255, 0)
BOX = (50, 60, 200, 220)


def changed(image, bare):
    """First column and row, last column and row of what a label changed."""
    rows, columns = np.nonzero((np.asarray(image) != np.asarray(bare)).any(axis=2))
    return columns.min(), rows.min(), columns.max(), rows.max()


def in_boxes(*labels):
    return draw_labelled_boxes(plain(), [LabelledBox(label, BOX, "red") for label in labels])


def test_labels_take_the_corners_in_turn_and_then_the_first_again():
    corners = [changed(in_boxes(*"EEEE"[:n], "E"), in_boxes(*"EEEE"[:n])) for n in range(1, 4)]
    (x_1, y_1, *_), (x_2, y_2, *_), (x_3, y_3, *_) = corners
    assert x_1 == x_3 > 150 > x_2
    assert y_1 < 150 < y_2 == y_3
    colours = ["red"] * 4 + ["lime"]
    fifth = draw_labelled_boxes(plain(), [LabelledBox("E", BOX, colour) for colour in colours])
    inside = np.asarray(fifth)[65:100, 55:100]  # of the upper left corner
    assert (inside == LIME).all(axis=2).any()


def test_a_label_covers_no_label_of_another_circle():
    def stands(first):
        circles = [Mark("", (200, 150)), Mark("", (200, 172))]
        marks = [Mark(first, (200, 150)), Mark("B", (200, 172))]
        bare = [Mark(first, (200, 150)), circles[1]]
        drawn = [
            draw_labelled_circles(plain(), some, radius=10, colour="red") for some in (marks, bare)
        ]
        return changed(*drawn)

    assert stands("")[0] > 200  # right of its circle
    assert stands("A")[2] < 200  # where the other's label reaches down to


def test_images_stand_in_a_row_on_black_with_10_px_between_them():
    """A red one of 4 x 20 px and a blue one of 6 x 10 px, which hangs 5 px below the top."""
    row = concatenate_images([Image.new("RGB", (4, 20), "red"), Image.new("RGB", (6, 10), "blue")])
    assert row.size == (4 + 10 + 6, 20)
    red, black, blue = (255, 0, 0), (0, 0, 0), (0, 0, 255)
    assert [row.getpixel(at) for at in ((3, 0), (3, 19))] == [red, red]
    assert [row.getpixel(at) for at in ((4, 10), (13, 10))] == [black, black]
    assert [row.getpixel(at) for at in ((14, 4), (14, 5), (19, 14), (14, 15))] == [
        black,
        blue,
        blue,
        black,
    ]
