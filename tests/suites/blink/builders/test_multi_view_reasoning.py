from random import Random

import numpy as np
import pytest

from bench_assets.suites.blink.builders.drafts import Marks
from bench_assets.suites.blink.builders.multi_view_reasoning import (
    multi_view_reasoning,
    remove_scale,
    view_from_pose,
)
from tests.suites.blink.builders.layouts import (
    annotated,
    around,
    camera,
    drafts,
    image,
    reasons,
    wild6d,
)


@pytest.mark.parametrize(
    ("pose", "expected"),
    [
        pytest.param(camera((1, 0, 0), (0, -1, 0), (0, 0, -1), at=(0, 0, 2)), (0, 0), id="front"),
        pytest.param(camera((0, 0, -1), (0, -1, 0), (-1, 0, 0), at=(2, 0, 0)), (90, 0), id="right"),
        pytest.param(camera((0, 0, 1), (0, -1, 0), (1, 0, 0), at=(-2, 0, 0)), (-90, 0), id="left"),
        pytest.param(camera((1, 0, 0), (0, 0, 1), (0, -1, 0), at=(0, 2, 0)), (0, 90), id="above"),
    ],
)
def test_a_pose_tells_where_the_camera_is(pose, expected):
    assert view_from_pose(*pose) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("azimuths", "right_first"),
    [
        pytest.param((0, 30), True, id="the camera went to its right"),
        pytest.param((30, 0), False, id="the camera went to its left"),
        pytest.param((350, 20), True, id="to its right, past the front"),
    ],
)
def test_frames_are_shown_in_the_order_that_makes_the_answer_right(tmp_path, azimuths, right_first):
    (draft,) = drafts(
        multi_view_reasoning(wild6d(tmp_path, [around(at) for at in azimuths]), Random(0))
    )
    zero, one = (
        (tmp_path / "test_set/mug/0001/2/images" / f"0000{nth}.jpg").read_bytes() for nth in (0, 1)
    )
    forwards = (zero, one) if right_first else (one, zero)
    assert draft.show(1, Marks()).images == forwards
    assert draft.show(0, Marks()).images == forwards[::-1]
    assert draft.show(0, Marks()).options == ("left", "right")


@pytest.mark.parametrize(
    ("listed", "stored"),
    [
        pytest.param("cup/0001/2/1", "mug/0001/2/images/00001", id="a cup among the mugs"),
        pytest.param("mug/0001/2/1", "mug/0001/2/images/0001", id="zeros in the file's name"),
    ],
)
def test_frames_are_found_under_the_names_that_they_have(tmp_path, listed, stored):
    folder = tmp_path / "test_set"
    annotations = []
    for nth in (1, 2):
        image(folder / f"{stored[:-1]}{nth}.jpg", colour=(nth, nth, nth))
        rotation, translation = around(30 * nth)
        pose = {"rotation": rotation, "translation": translation}
        annotations.append({"name": f"{listed[:-1]}{nth}", **pose})
    annotated(tmp_path, {"annotations": annotations}, listed[:3])
    (draft,) = drafts(multi_view_reasoning(tmp_path, Random(0)))
    assert {file.relative_to(folder).as_posix() for file in draft.originals} == {
        f"{stored[:-1]}{nth}.jpg" for nth in (1, 2)
    }


@pytest.mark.parametrize(
    "rotation",
    [
        pytest.param(np.diag([1.0, 1, -1]), id="a mirror"),
        pytest.param(np.array([[1.0, 0.5, 0], [0, 1, 0], [0, 0, 1]]), id="a shear"),
    ],
)
def test_a_frame_whose_pose_is_no_rotation_is_left_out(tmp_path, rotation):
    poses = [around(0), (rotation, np.array([0.0, 0, 2]))]
    assert remove_scale(rotation) is None
    assert reasons(multi_view_reasoning(wild6d(tmp_path, poses), Random(0))) == [
        "two frames with a pose are needed, it has 1"
    ]


@pytest.mark.parametrize(
    ("poses", "category", "reason"),
    [
        pytest.param([(0, 0), (10, 0)], "mug", "ambiguous: no clear turn", id="hardly a turn"),
        pytest.param([(0, 0), (120, 0)], "mug", "ambiguous: no clear turn", id="too far round"),
        pytest.param([(0, 0), (20, 30)], "mug", "ambiguous: no clear turn", id="more up than on"),
    ],
)
def test_what_is_ambiguous_is_refused(tmp_path, poses, category, reason):
    source = wild6d(tmp_path, [around(*pose) for pose in poses], category)
    (given,) = reasons(multi_view_reasoning(source, Random(0)))
    assert given.startswith(reason)
