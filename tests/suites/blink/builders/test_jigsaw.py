from random import Random

import numpy as np
import pytest
from PIL import Image

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.blink.builders.drafts import Marks
from bench_assets.suites.blink.builders.jigsaw import cell, jigsaw, with_missing_corner
from tests.suites.blink.builders.layouts import drafts, image, reasons, seen

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


@pytest.mark.parametrize("at", list(COLOURS))
def test_cells_are_cut_where_they_lie(photographs, at):
    with Image.open(photographs / "nine.png") as nine:
        assert cell(nine, *at).getcolors() == [(900, COLOURS[at])]


def test_the_centre_of_the_photograph_is_the_black_corner(photographs):
    with Image.open(photographs / "nine.png") as nine:
        corner = with_missing_corner(nine)
    assert corner.size == (60, 60)
    assert corner.getpixel((15, 15)) == COLOURS[0, 0]
    assert corner.getpixel((45, 15)) == COLOURS[1, 0]
    assert corner.getpixel((15, 45)) == COLOURS[0, 1]
    assert corner.crop((30, 30, 60, 60)).getcolors() == [(900, (0, 0, 0))]


@pytest.mark.parametrize("seed", range(12))
def test_the_right_piece_is_the_centre_and_the_wrong_one_was_never_shown(photographs, seed):
    (draft,) = drafts(jigsaw(photographs, Random(seed)))
    _, second, third = draft.show(0, Marks()).images
    assert colour_of(second) == (1, 1)
    assert colour_of(third) in {(2, 0), (2, 1), (0, 2), (1, 2), (2, 2)}
    assert draft.show(1, Marks()).images[2] == second


def test_the_reference_is_two_thirds_of_1024_px_high(photographs):
    (draft,) = drafts(jigsaw(photographs, Random(0)))
    assert seen(draft.show(0, Marks()).images[0]).size == (682, 682)


def test_a_photograph_whose_pieces_look_alike_is_refused(tmp_path):
    image(tmp_path / "sky.jpg")
    assert reasons(jigsaw(tmp_path, Random(0))) == ["ambiguous: every other piece looks like it"]


def test_a_folder_without_photographs_is_named(tmp_path):
    with pytest.raises(SourceError, match="nowhere: expected photographs, found none"):
        list(jigsaw(tmp_path / "nowhere", Random(0)))
