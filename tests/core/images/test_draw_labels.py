"""Where labels come to stand: by pencil, from the edge of what they name."""

import numpy as np
import pytest
from PIL import Image

from bench_assets.core.images.drawing import (
    LabelledBox,
    Mark,
    draw_labelled_boxes,
    draw_labelled_circles,
)

GREY = (90, 90, 90)
RED, LIME = (255, 0, 0), (0, 255, 0)
BOX = (50, 60, 200, 220)


def plain():
    return Image.new("RGB", (400, 300), GREY)


def changed(image, bare):
    """First column and row, last column and row of what a label changed."""
    rows, columns = np.nonzero((np.asarray(image) != np.asarray(bare)).any(axis=2))
    return columns.min(), rows.min(), columns.max(), rows.max()


def in_boxes(*labels):
    return draw_labelled_boxes(plain(), [LabelledBox(label, BOX, "red") for label in labels])


@pytest.mark.parametrize("radius", [5, 6])
def test_the_line_of_a_small_circle_is_two_px_wide(radius):
    drawn = draw_labelled_circles(plain(), [Mark("", (200, 150))], radius=radius, colour="red")
    (columns,) = np.nonzero((np.asarray(drawn)[150] == RED).all(axis=1))
    assert [*columns] == [200 - radius, 201 - radius, 199 + radius, 200 + radius]


def test_a_label_keeps_eight_px_to_the_sides_of_its_box():
    left, top, _, _ = changed(in_boxes("A"), in_boxes(""))
    assert (left, top) == (50 + 8 - 2, 60 + 8 - 2)  # its outline goes 2 px beyond it
    *_, right, bottom = changed(in_boxes(*"AAAA"), in_boxes(""))
    assert (right, bottom) == (200 - 8 - 1, 220 - 8 - 1)


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
