"""Drafts, jigsaws and objects of BLINK's built route, on drawings with known geometry."""

from random import Random

import numpy as np
import pytest
from PIL import Image

from bench_assets.core.answer_types.boxes import iou
from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.blink.builders.drafts import Marks
from bench_assets.suites.blink.builders.image_choices import jigsaw
from bench_assets.suites.blink.builders.object_localization import (
    jitter_box,
    object_localization,
)
from tests.suites.blink.builders.layouts import (
    BOX,
    decode_image,
    drafts,
    rejection_reasons,
    write_lvis,
)

COLOURS = {  # of the nine cells of a photograph, by column and row
    (column, row): (40 + 90 * column, 40 + 90 * row, 20 * (3 * row + column))
    for row in range(3)
    for column in range(3)
}


@pytest.fixture
def photographs(tmp_path):
    photograph = Image.new("RGB", (90, 90))
    for (column, row), colour in COLOURS.items():
        photograph.paste(colour, (column * 30, row * 30, column * 30 + 30, row * 30 + 30))
    photograph.save(tmp_path / "nine.png")
    return tmp_path


def find_cell(data):
    """The column and row of the cell whose colour is in the middle of a piece."""
    piece = decode_image(data)
    middle = np.array(piece.getpixel((piece.width // 2, piece.height // 2)))
    return min(COLOURS, key=lambda cell: np.abs(middle - COLOURS[cell]).sum())


@pytest.mark.parametrize("seed", range(12))
def test_the_right_piece_is_the_centre_and_the_wrong_one_is_not_in_the_reference(photographs, seed):
    (draft,) = drafts(jigsaw(photographs, Random(seed)))
    _, right, wrong = draft.show(0, Marks()).images
    assert find_cell(right) == (1, 1)
    # The reference shows the cells above and left of these.
    assert find_cell(wrong) in {(2, 0), (2, 1), (0, 2), (1, 2), (2, 2)}
    assert draft.show(1, Marks()).images[1:] == (wrong, right)


def test_a_folder_without_photographs_is_named(tmp_path):
    with pytest.raises(SourceError, match="nowhere: expected photographs, found none"):
        list(jigsaw(tmp_path / "nowhere", Random(0)))


@pytest.mark.parametrize("seed", range(30))
def test_the_wrong_box_overlaps_neither_too_much_nor_too_little(seed):
    box = (100.0, 120.0, 250.0, 320.0)
    moved = jitter_box(box, (400, 512), Random(seed))
    assert moved is not None
    assert 0.2 <= iou(box, moved) <= 0.5
    left, top, right, bottom = moved
    assert 0 <= left < right <= 400
    assert 0 <= top < bottom <= 512


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param({"bbox": [0, 0, 150, 200], "area": 10_000}, id="the mask is a third of it"),
        pytest.param({"bbox": [0, 0, 100, 100], "area": 9_000}, id="1/20 of the picture"),
        pytest.param({"bbox": [0, 0, 400, 500], "area": 190_000}, id="nearly all of the picture"),
        pytest.param(
            {
                "extra_annotations": [
                    {"id": 9, "image_id": 1, "category_id": 2, "bbox": BOX, "area": 9}
                ]
            },
            id="there are two teddy bears",
        ),
        pytest.param(
            {"image_fields": {"not_exhaustive_category_ids": [4, 2]}}, id="more are not listed"
        ),
    ],
)
def test_objects_that_do_not_fit_are_refused(tmp_path, fault):
    assert rejection_reasons(object_localization(write_lvis(tmp_path, **fault), Random(0))) == [
        "no object alone of its kind and of a fit size"
    ]
