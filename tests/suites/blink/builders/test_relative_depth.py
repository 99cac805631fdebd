from random import Random

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.blink.builders.relative_depth import build
from tests.suites.blink.builders.layouts import drafts, image, lettered, reasons, write


def diw(folder, line="101,51,201,351,<,400,512", name="./DIW_test/a.thumb"):
    """By default point A lies at row 100, column 50 (from 0), and is closer."""
    image(folder / "DIW_test" / "a.png", (400, 512)).rename(folder / "DIW_test" / "a.thumb")
    write(folder / "DIW_test.csv", f"{name}\n{line}\n")
    return folder


@pytest.mark.parametrize(
    ("relation", "place", "letter"),
    [
        pytest.param("<", 0, "A", id="A is closer and keeps its letter"),
        pytest.param("<", 1, "B", id="A is closer and is called B"),
        pytest.param(">", 0, "B", id="A is farther, so the other is called A"),
        pytest.param(">", 1, "A", id="A is farther and keeps its letter"),
    ],
)
def test_the_closer_point_gets_the_letter_of_its_place(tmp_path, relation, place, letter):
    """Row 100, column 50 of 512 rows is (100, 200) where the image is 1024 px high."""
    (draft,) = drafts(build(diw(tmp_path, f"101,51,201,351,{relation},400,512"), Random(0)))
    shown = draft.show(place, draft.marks)
    assert lettered(shown.images[0], "AB")[letter] == pytest.approx((100, 200), abs=1.5)
    assert shown.options == ("A is closer", "B is closer")


def test_points_whose_circles_would_meet_are_refused(tmp_path):
    assert reasons(build(diw(tmp_path, "101,51,101,61,<,400,512"), Random(0))) == [
        "the points lie 0.020 of the height apart: their circles would meet"
    ]


def test_blanks_after_the_commas_do_not_count(tmp_path):
    (draft,) = drafts(build(diw(tmp_path, "101, 51, 201, 351, <, 400, 512"), Random(0)))
    assert list(draft.points.values()) == [((50.0, 100.0), (350.0, 200.0))]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        pytest.param("1,2,3,4,=,400,512", "DIW_test.csv, line 2: expected y_A", id="a relation ="),
        pytest.param("1,2,3,4,<", "DIW_test.csv, line 2: expected y_A", id="too short"),
        pytest.param("1,2,x,4,<,400,512", "DIW_test.csv, line 2: could not", id="a word"),
        pytest.param("", "DIW_test.csv: expected two lines an image", id="a line is lost"),
    ],
)
def test_a_line_of_another_form_is_named(tmp_path, line, complaint):
    with pytest.raises(SourceError, match=complaint):
        list(build(diw(tmp_path, line), Random(0)))


def test_a_image_outside_the_folder_is_not_read(tmp_path):
    with pytest.raises(SourceError, match="does not lie below"):
        list(build(diw(tmp_path, name="../../etc/passwd"), Random(0)))
