"""Relative depth and reflectance."""

from random import Random

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.blink.builders.circled_points import (
    relative_depth,
    relative_reflectance,
)
from bench_assets.suites.blink.builders.drafts import Marks
from tests.suites.blink.builders.layouts import diw, drafts, iiw, lettered, reasons


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
    (draft,) = drafts(
        relative_depth(diw(tmp_path, f"101,51,201,351,{relation},400,512"), Random(0))
    )
    shown = draft.show(place, draft.marks)
    assert lettered(shown.images[0], "AB")[letter] == pytest.approx((100, 200), abs=1.5)
    assert shown.options == ("A is closer", "B is closer")


def test_points_whose_circles_would_meet_are_refused(tmp_path):
    assert reasons(relative_depth(diw(tmp_path, "101,51,101,61,<,400,512"), Random(0))) == [
        "the points lie 0.020 of the height apart: their circles would meet"
    ]


def test_blanks_after_the_commas_do_not_count(tmp_path):
    (draft,) = drafts(relative_depth(diw(tmp_path, "101, 51, 201, 351, <, 400, 512"), Random(0)))
    assert list(draft.points.values()) == [((50.0, 100.0), (350.0, 200.0))]


@pytest.mark.parametrize(
    ("darker", "place", "letter"),
    [
        pytest.param("1", 0, "A", id="the first is darker and called A"),
        pytest.param("1", 1, "B", id="the first is darker and called B"),
        pytest.param("2", 0, "B", id="the second is darker and called A"),
        pytest.param("2", 1, "A", id="the second is darker and called B"),
    ],
)
def test_the_darker_point_gets_the_letter_of_its_place(tmp_path, darker, place, letter):
    """Point 7 lies at (256, 512) on an image of 1024 x 1024 px."""
    (draft,) = drafts(relative_reflectance(iiw(tmp_path, darker=darker), Random(0)))
    shown = draft.show(place, draft.marks)
    assert lettered(shown.images[0], "AB", "white")[letter] == pytest.approx((256, 512), abs=1.5)
    assert shown.options == ("A is darker", "B is darker", "About the same")
    assert draft.places == (0, 1)


@pytest.mark.long
def test_points_alike_have_the_third_option_whatever_their_letters(tmp_path):
    drawn = [
        drafts(relative_reflectance(iiw(tmp_path, darker="E"), Random(seed)))[0]
        for seed in range(8)
    ]
    assert {draft.places for draft in drawn} == {(2,)}
    at = {lettered(d.show(2, d.marks).images[0], "AB", "white")["A"] for d in drawn}
    assert len(at) == 2


def test_circles_are_white_to_avoid_colour_confusions(tmp_path):
    (draft,) = drafts(relative_reflectance(iiw(tmp_path), Random(0)))
    assert draft.marks == Marks(height=1024, radius=10, colour="white")


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param({"darker_score": 0.49}, id="the annotators were not sure"),
        pytest.param({"opaque": False}, id="a point lies on glass"),
        pytest.param({"opaque": None}, id="nobody said whether a point is opaque"),
        pytest.param({"darker_score": None}, id="nobody said how sure they are"),
        pytest.param({"darker": None}, id="no judgement"),
        pytest.param({"point2": 7}, id="both points are one"),
    ],
)
def test_a_doubtful_comparison_is_refused(tmp_path, fault):
    assert reasons(relative_reflectance(iiw(tmp_path, **fault), Random(0))) == [
        "no comparison of two opaque points that lie apart is sure enough"
    ]


def test_a_folder_without_annotations_is_named(tmp_path):
    with pytest.raises(SourceError, match=r"data: expected files \*.json, found none"):
        list(relative_reflectance(tmp_path, Random(0)))
