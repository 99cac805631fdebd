from random import Random

import numpy as np
import pytest

from bench_assets.suites.blink.builders.drafts import Marks
from bench_assets.suites.blink.builders.multi_view_reasoning import (
    multi_view_reasoning,
    view_from_pose,
)
from tests.suites.blink.builders.layouts import (
    camera_pose,
    drafts,
    pose_around,
    rejection_reasons,
    write_annotations,
    write_image,
    write_wild6d,
)


@pytest.mark.parametrize(
    ("pose", "expected"),
    [
        pytest.param(
            camera_pose((1, 0, 0), (0, -1, 0), (0, 0, -1), position=(0, 0, 2)), (0, 0), id="front"
        ),
        pytest.param(
            camera_pose((0, 0, -1), (0, -1, 0), (-1, 0, 0), position=(2, 0, 0)), (90, 0), id="right"
        ),
        pytest.param(
            camera_pose((0, 0, 1), (0, -1, 0), (1, 0, 0), position=(-2, 0, 0)), (-90, 0), id="left"
        ),
        pytest.param(
            camera_pose((1, 0, 0), (0, 0, 1), (0, -1, 0), position=(0, 2, 0)), (0, 90), id="above"
        ),
    ],
)
def test_a_pose_gives_azimuth_and_elevation_of_the_camera(pose, expected):
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
    source = write_wild6d(tmp_path, [pose_around(azimuth) for azimuth in azimuths])
    (draft,) = drafts(multi_view_reasoning(source, Random(0)))
    frames = tuple(
        (tmp_path / "test_set/mug/0001/2/images" / name).read_bytes()
        for name in ("00000.jpg", "00001.jpg")
    )
    forwards = frames if right_first else frames[::-1]
    assert draft.show(1, Marks()).images == forwards
    assert draft.show(0, Marks()).images == forwards[::-1]
    assert draft.show(0, Marks()).options == ("left", "right")


@pytest.mark.parametrize(
    ("listed", "stored"),
    [
        pytest.param("cup/0001/2/", "mug/0001/2/images/0000", id="a cup among the mugs"),
        pytest.param("mug/0001/2/", "mug/0001/2/images/000", id="zeros in the file's name"),
    ],
)
def test_frames_are_found_under_the_names_of_their_files(tmp_path, listed, stored):
    folder = tmp_path / "test_set"
    annotations = []
    for nth in (1, 2):
        write_image(folder / f"{stored}{nth}.jpg", colour=(nth, nth, nth))
        rotation, translation = pose_around(30 * nth)
        pose = {"rotation": rotation, "translation": translation}
        annotations.append({"name": f"{listed}{nth}", **pose})
    write_annotations(tmp_path, {"annotations": annotations}, listed.partition("/")[0])
    (draft,) = drafts(multi_view_reasoning(tmp_path, Random(0)))
    assert {file.relative_to(folder).as_posix() for file in draft.originals} == {
        f"{stored}1.jpg",
        f"{stored}2.jpg",
    }


@pytest.mark.parametrize(
    "rotation",
    [
        pytest.param(np.diag([1.0, 1, -1]), id="a mirror"),
        pytest.param(np.array([[1.0, 0.5, 0], [0, 1, 0], [0, 0, 1]]), id="a shear"),
    ],
)
def test_a_frame_whose_pose_is_no_rotation_is_left_out(tmp_path, rotation):
    poses = [pose_around(0), (rotation, np.array([0.0, 0, 2]))]
    assert rejection_reasons(multi_view_reasoning(write_wild6d(tmp_path, poses), Random(0))) == [
        "expected two frames with a pose, got 1"
    ]


@pytest.mark.parametrize(
    "angles",
    [
        pytest.param([(0, 0), (10, 0)], id="hardly a turn"),
        pytest.param([(0, 0), (120, 0)], id="too far round"),
        pytest.param([(0, 0), (20, 30)], id="more up than sideways"),
    ],
)
def test_frames_without_a_clear_turn_are_refused(tmp_path, angles):
    source = write_wild6d(
        tmp_path, [pose_around(*azimuth_elevation) for azimuth_elevation in angles]
    )
    (reason,) = rejection_reasons(multi_view_reasoning(source, Random(0)))
    assert reason.startswith("ambiguous: no clear turn")
