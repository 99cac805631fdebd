"""Drafts, jigsaws and objects of BLINK's built route, on drawings with known geometry."""

from random import Random

import numpy as np
import pytest
from PIL import Image

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.blink.builders.drafts import (
    Marks,
)
from bench_assets.suites.blink.builders.image_choices import jigsaw
from bench_assets.suites.blink.builders.object_localization import (
    box_iou,
    jitter_box,
    object_localization,
)
from tests.suites.blink.builders.layouts import BOX, drafts, lvis, reasons, seen

COLOURS = {  # column, row: a colour of its own for each of the nine cells
    (column, row): (40 + 90 * column, 40 + 90 * row, 20 * (3 * row + column))
    for row in range(3)
    for column in range(3)
}


@pytest.fixture
def photographs(tmp_path):
    nine = Image.new("RGB", (90, 90))
    for (column, row), colour in COLOURS.items():
        nine.paste(colour, (column * 30, row * 30, column * 30 + 30, row * 30 + 30))
    nine.save(tmp_path / "nine.png")
    return tmp_path


def colour_of(data):
    """The colour in the middle of a piece, and the cell whose colour that is."""
    piece = seen(data)
    middle = np.array(piece.getpixel((piece.width // 2, piece.height // 2)))
    return min(COLOURS, key=lambda at: np.abs(middle - COLOURS[at]).sum())


@pytest.mark.parametrize("seed", range(12))
def test_the_right_piece_is_the_centre_and_the_wrong_one_was_never_shown(photographs, seed):
    (draft,) = drafts(jigsaw(photographs, Random(seed)))
    _, second, third = draft.show(0, Marks()).images
    assert colour_of(second) == (1, 1)
    assert colour_of(third) in {(2, 0), (2, 1), (0, 2), (1, 2), (2, 2)}
    assert draft.show(1, Marks()).images[2] == second


def test_a_folder_without_photographs_is_named(tmp_path):
    with pytest.raises(SourceError, match="nowhere: expected photographs, found none"):
        list(jigsaw(tmp_path / "nowhere", Random(0)))


@pytest.mark.parametrize("seed", range(30))
def test_the_wrong_box_overlaps_neither_too_much_nor_too_little(seed):
    box = (100.0, 120.0, 250.0, 320.0)
    moved = jitter_box(box, (400, 512), Random(seed))
    assert moved is not None
    assert 0.2 <= box_iou(box, moved) <= 0.5
    assert 0 <= moved[0] < moved[2] <= 400
    assert 0 <= moved[1] < moved[3] <= 512


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        pytest.param((4, 0, 8, 4), 0.0, id="side by side"),
        pytest.param((2, 2, 6, 6), 4 / 28, id="a quarter of each"),
        pytest.param((1, 1, 3, 3), 4 / 16, id="one in the other"),
    ],
)
def test_overlap_is_intersection_over_union(other, expected):
    assert box_iou((0, 0, 4, 4), other) == expected


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param({"bbox": [0, 0, 150, 200]} | {"area": 10_000}, id="the mask is a third of it"),
        pytest.param({"bbox": [0, 0, 100, 100], "area": 9_000}, id="1/20 of the picture"),
        pytest.param({"bbox": [0, 0, 400, 500], "area": 190_000}, id="nearly all of the picture"),
        pytest.param(
            {"extra": [{"id": 9, "image_id": 1, "category_id": 2, "bbox": BOX, "area": 9}]},
            id="there are two teddy bears",
        ),
        pytest.param({"entry": {"not_exhaustive_category_ids": [4, 2]}}, id="more are not listed"),
    ],
)
def test_objects_that_do_not_fit_are_refused(tmp_path, fault):
    assert reasons(object_localization(lvis(tmp_path, **fault), Random(0))) == [
        "no object alone of its kind and of a fit size"
    ]
