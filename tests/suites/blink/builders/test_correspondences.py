import re
from random import Random

import numpy as np
import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Rejection
from bench_assets.suites.blink.builders.circled_points import relative_depth, relative_reflectance
from bench_assets.suites.blink.builders.correspondences import (
    functional_correspondence,
    semantic_correspondence,
    visual_correspondence,
)
from tests.suites.blink.builders.layouts import (
    FIRST_POINTS,
    SECOND_POINTS,
    SHIFTS,
    drafts,
    rejection_reasons,
    translation_matrix,
    write_diw,
    write_hpatches,
    write_iiw,
    write_image,
    write_json,
    write_spair,
    write_squares,
    write_text,
    write_tool,
)


def test_two_images_of_one_tool_are_no_pair(tmp_path):
    tools = [write_tool(tmp_path, "hammer"), write_tool(tmp_path, "pot", object="hammer")]
    write_json(tmp_path / "annotations.json", tools)
    assert list(functional_correspondence(tmp_path, Random(0))) == []


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        pytest.param(
            {"src_kps": FIRST_POINTS[:3], "trg_kps": SECOND_POINTS[:3]},
            "expected four common points, got 3",
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
    assert rejection_reasons(
        semantic_correspondence(write_spair(tmp_path, **fields), Random(0))
    ) == [reason]


@pytest.fixture
def views(tmp_path):
    return write_hpatches(tmp_path)


@pytest.mark.parametrize("seed", range(6))
def test_the_match_is_where_the_homographies_take_the_reference(views, seed):
    (draft,) = drafts(visual_correspondence(views, Random(seed)))
    first, second = draft.originals
    (reference,), (match, *wrong_points) = draft.points[first], draft.points[second]
    shift = np.subtract(SHIFTS[second.stem], SHIFTS[first.stem])
    assert match == pytest.approx(reference + shift)
    assert len({match, *wrong_points}) == 4


def write_still_sequence(folder):
    """Six views of the same squares in the same place."""
    for number in "123456":
        write_squares(folder / f"{number}.ppm", 0, 0)
        if number != "1":
            write_text(folder / f"H_1_{number}", translation_matrix(0, 0))


def test_pairs_of_a_sequence_are_disjoint_and_sequences_take_turns(tmp_path):
    """116 sequences of six images give 348 pairs; the paper has 344 questions."""
    write_still_sequence(tmp_path / "v_one")
    write_still_sequence(tmp_path / "v_two")
    pairs = drafts(visual_correspondence(tmp_path, Random(0)))
    assert len(pairs) == 6
    assert len({file for pair in pairs for file in pair.originals}) == 12
    scenes = [pair.scene for pair in pairs]
    assert [set(scenes[n : n + 2]) for n in (0, 2, 4)] == 3 * [{"v_one", "v_two"}]


def test_a_blank_wall_is_refused(tmp_path):
    write_image(tmp_path / "i_wall" / "1.ppm")
    write_image(tmp_path / "i_wall" / "2.ppm")
    write_text(tmp_path / "i_wall" / "H_1_2", translation_matrix(0, 0))
    assert rejection_reasons(visual_correspondence(tmp_path, Random(0))) == [
        "no four of 0 common interest points lie far enough apart"
    ]


def test_a_folder_without_sequences_is_named(tmp_path):
    with pytest.raises(SourceError, match=f"{tmp_path}: expected folders in it, found none"):
        list(visual_correspondence(tmp_path, Random(0)))


def test_an_image_that_is_torn_is_refused_by_name(views):
    for number in SHIFTS:
        (views / "v_squares" / f"{number}.ppm").write_bytes(b"torn")
    (reason,) = rejection_reasons(visual_correspondence(views, Random(0)))
    assert re.search(r"v_squares/[0-9]\.ppm: not an image", reason)


def test_the_closer_point_may_be_the_second_of_the_line(tmp_path, circles):
    """Row 100, column 50 of 512 rows is (100, 200) where the image is 1024 px high."""
    (draft,) = drafts(relative_depth(write_diw(tmp_path, "101,51,201,351,>,400,512"), Random(0)))
    view = draft.show(0, draft.marks)
    assert circles[0]["B"] == pytest.approx((100, 200))
    assert view.options == ("A is closer", "B is closer")


def test_a_line_of_depth_without_its_partner_is_rejected(tmp_path):
    write_diw(tmp_path)  # lines 1 and 2 of the file
    points = "101,51,201,351,<,400,512"
    with (tmp_path / "DIW_test.csv").open("a") as file:
        file.write(f"b.png\n./DIW_test/a.thumb\n{points}\n{points}\n")
    candidates = list(relative_depth(tmp_path, Random(0)))
    assert len(drafts(candidates)) == 2
    assert [(row.entry, row.reason) for row in candidates if isinstance(row, Rejection)] == [
        ("DIW_test.csv, line 3", "no line of points follows"),
        ("DIW_test.csv, line 6", "no line of an image precedes"),
    ]


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
    assert rejection_reasons(relative_reflectance(write_iiw(tmp_path, **fault), Random(0))) == [
        "no comparison of two opaque points that lie apart is sure enough"
    ]


def test_points_close_together_in_a_narrow_image_are_refused(tmp_path):
    """They are 50 px apart, half of the width, and less than 6 % of the height."""
    write_image(write_iiw(tmp_path) / "data" / "101.png", (100, 1000))
    assert rejection_reasons(relative_reflectance(tmp_path, Random(0))) == [
        "no comparison of two opaque points that lie apart is sure enough"
    ]


def test_a_folder_without_annotations_is_named(tmp_path):
    with pytest.raises(SourceError, match=r"data: expected files \*.json, found none"):
        list(relative_reflectance(tmp_path, Random(0)))
