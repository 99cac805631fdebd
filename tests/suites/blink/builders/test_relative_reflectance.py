from random import Random

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.blink.builders.relative_reflectance import build
from bench_assets.suites.blink.dataset.draft import Marks
from tests.suites.blink.builders.layouts import drafts, image, lettered, reasons, write_json


def scene(folder, *, name="101", opaque=True, **comparison):
    image(folder / "data" / f"{name}.png", (512, 512), (80, 80, 80))
    points = [
        {"id": 7, "x": 0.25, "y": 0.5, "opaque": True},
        {"id": 8, "x": 0.75, "y": 0.5, "opaque": opaque},
    ]
    judged = {"point1": 7, "point2": 8, "darker": "1", "darker_score": 1.0} | comparison
    content = {"intrinsic_points": points, "intrinsic_comparisons": [judged]}
    write_json(folder / "data" / f"{name}.json", content)
    return folder


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
    (draft,) = drafts(build(scene(tmp_path, darker=darker), Random(0)))
    shown = draft.show(place, draft.marks)
    assert lettered(shown.images[0], "AB", "white")[letter] == pytest.approx((256, 512), abs=1.5)
    assert shown.options == ("A is darker", "B is darker", "About the same")
    assert draft.places == (0, 1)


@pytest.mark.long
def test_points_alike_have_the_third_option_whatever_their_letters(tmp_path):
    drawn = [drafts(build(scene(tmp_path, darker="E"), Random(seed)))[0] for seed in range(8)]
    assert {draft.places for draft in drawn} == {(2,)}
    at = {lettered(d.show(2, d.marks).images[0], "AB", "white")["A"] for d in drawn}
    assert len(at) == 2


def test_circles_are_white_to_avoid_colour_confusions(tmp_path):
    (draft,) = drafts(build(scene(tmp_path), Random(0)))
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
    assert reasons(build(scene(tmp_path, **fault), Random(0))) == [
        "no comparison of two opaque points that lie apart is sure enough"
    ]


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        pytest.param({"darker": "3"}, "101.json, comparison 1: field 'darker' is '3'", id="3"),
        pytest.param({"point1": 9}, "101.json, comparison 1: there is no point 9", id="no point"),
        pytest.param({"darker_score": "x"}, "'darker_score' is 'x', expected a", id="a word"),
    ],
)
def test_a_comparison_of_another_form_is_named(tmp_path, fault, complaint):
    with pytest.raises(SourceError, match=complaint):
        list(build(scene(tmp_path, **fault), Random(0)))


def test_a_folder_without_annotations_is_named(tmp_path):
    with pytest.raises(SourceError, match=r"data: expected files \*.json, found none"):
        list(build(tmp_path, Random(0)))
