"""Functional, semantic, visual correspondence."""

from random import Random

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.blink.builders.circled_points import (
    relative_depth,
    relative_reflectance,
)
from bench_assets.suites.blink.builders.correspondences import (
    functional_correspondence,
    semantic_correspondence,
    visual_correspondence,
)
from tests.suites.blink.builders.layouts import (
    FIRST,
    SECOND,
    SHIFTS,
    diw,
    drafts,
    hpatches,
    iiw,
    image,
    reasons,
    shifted,
    spair,
    squares,
    tool,
    write,
    write_json,
)


def test_two_images_of_one_tool_are_no_pair(tmp_path):
    one, other = tool(tmp_path, "hammer"), tool(tmp_path, "pot", object="hammer")
    write_json(tmp_path / "annotations.json", [one, other])
    assert list(functional_correspondence(tmp_path, Random(0))) == []


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        pytest.param(
            {"src_kps": FIRST[:3], "trg_kps": SECOND[:3]},
            "four common points are needed, it has 3",
            id="three points",
        ),
        pytest.param(
            {"trg_kps": [[9, 9], [9, 10], [10, 9], [10, 10], [200, 200]]},
            "ambiguous: the points lie too close together",
            id="four points in one spot",
        ),
    ],
)
def test_pairs_with_few_or_close_points_are_refused(tmp_path, fields, reason):
    assert reasons(semantic_correspondence(spair(tmp_path, **fields), Random(0))) == [reason]


@pytest.fixture
def views(tmp_path):
    return hpatches(tmp_path)


@pytest.mark.parametrize("seed", range(6))
def test_the_match_is_where_the_homographies_take_the_reference(views, seed):
    (draft,) = drafts(visual_correspondence(views, Random(seed)))
    first, second = draft.originals
    (reference,), (match, *others) = draft.points[first], draft.points[second]
    before, after = SHIFTS[first.stem], SHIFTS[second.stem]
    assert match == pytest.approx(
        (reference[0] + after[0] - before[0], reference[1] + after[1] - before[1])
    )
    assert len({match, *others}) == 4


def test_a_sequence_gives_disjoint_pairs_one_of_each_sequence_first(tmp_path):
    """116 sequences of six images give 348 pairs; the paper has 344 questions."""
    for name in ("v_one", "v_two"):
        for number in "123456":
            squares(image(tmp_path / name / f"{number}.ppm", (512, 512)), 0, 0)
            if number != "1":
                write(tmp_path / name / f"H_1_{number}", shifted(0, 0))
    made = drafts(visual_correspondence(tmp_path, Random(0)))
    assert len({file for draft in made for file in draft.originals}) == 2 * len(made) == 12
    assert [{made[n].scene, made[n + 1].scene} for n in (0, 2, 4)] == 3 * [{"v_one", "v_two"}]


def test_a_blank_wall_is_refused(tmp_path):
    for number in "12":
        image(tmp_path / "i_wall" / f"{number}.ppm")
    write(tmp_path / "i_wall" / "H_1_2", shifted(0, 0))
    assert reasons(visual_correspondence(tmp_path, Random(0))) == [
        "no four of 0 interest points lie in both, far enough apart"
    ]


def test_a_folder_without_sequences_is_named(tmp_path):
    with pytest.raises(SourceError, match="expected folders in it, found none"):
        list(visual_correspondence(tmp_path, Random(0)))


def test_a_image_that_is_torn_is_refused_by_name(views):
    for number in "123":
        (views / "v_squares" / f"{number}.ppm").write_bytes(b"torn")
    (reason,) = reasons(visual_correspondence(views, Random(0)))
    assert "ppm: not an image" in reason


def test_of_a_farther_point_the_other_is_the_closer_one(tmp_path, circles):
    """Row 100, column 50 of 512 rows is (100, 200) where the image is 1024 px high."""
    (draft,) = drafts(relative_depth(diw(tmp_path, "101,51,201,351,>,400,512"), Random(0)))
    shown = draft.show(0, draft.marks)
    assert circles[0]["B"] == pytest.approx((100, 200))
    assert shown.options == ("A is closer", "B is closer")


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param({"darker_score": 0.49}, id="the annotators were not sure"),
        pytest.param({"opaque": False}, id="a point lies on glass"),
        pytest.param({"opaque": None}, id="nobody said whether a point is opaque"),
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
