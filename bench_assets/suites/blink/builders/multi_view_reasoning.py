"""Multi-view reasoning: which way did the camera go around an object? (section 3.2).

Raw data: the annotated part of Wild6D, ``test_set/<category>/<object>/<video>/images/<frame>.jpg``
and ``test_set/pkl_annotations/<category>/<category>-<object>-<video>.pkl``: a pickle of
``{"annotations": [{"name": "<category>/<object>/<video>/<frame>", "rotation": 3 x 3,
"translation": 3, ...}]}``, which map object coordinates (y up) to camera coordinates
(x right, y down, z into the image as stored). ``rotation`` may include a scale. Annotations and
folders may differ in the name of a category ("cup" in ``mug``) and in the leading zeros of frames.
"""

from collections.abc import Sequence
from math import asin, atan2, degrees
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench_assets.core.images.orientation import read_annotated_frame
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Rejection
from bench_assets.suites.blink.builders.drafts import (
    Candidates,
    Draft,
    DraftView,
    Marks,
    make_candidates,
    wording,
)
from bench_assets.suites.blink.builders.raw_files import files_in, image_file, read_arrays

_FOLDERS = {"cup": "mug", "mug": "cup"}  # other folder of a category, if annotations differ
_ROTATION_TOLERANCE = 1e-2  # absolute, per cell: poses are estimates, stored as float32

# Of a clear motion; not given by the paper.
_MIN_TURN = 15.0  # degrees of the camera around the object
_MAX_TURN = 90.0  # degrees; beyond it the two frames share too little
_MAX_RISE = 0.5  # largest change of elevation, as a share of the turn
_SYMMETRIC = ("bottle", "bowl", "can")  # alike from all sides: poses do not determine the turn
_TRIES = 20  # pairs of frames drawn from a video before it is rejected


class View(NamedTuple):
    """Direction from an object to the camera, in degrees."""

    azimuth: float  # grows as the camera moves to its right: counter-clockwise from above
    elevation: float


class _Frame(NamedTuple):
    image: Path
    view: View


def multi_view_reasoning(source: Path, rng: Random) -> Candidates:
    """Ask about two random frames of each video, in random order."""
    files = files_in(source / "test_set", "pkl_annotations/*/*.pkl")
    located_files = [(file, str(file)) for file in files]
    return make_candidates(located_files, rng, lambda file, _: _video_draft(source, file, rng))


def remove_scale(matrix: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Remove the scale of a scaled rotation; None if the matrix is not one.

    >>> remove_scale(np.diag([2.0, -2, -2])).round(9).tolist()
    [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]]
    """
    determinant = float(np.linalg.det(matrix))
    if determinant <= 0:
        return None
    rotation: NDArray[np.float64] = matrix / determinant ** (1 / 3)
    is_rotation = np.allclose(rotation @ rotation.T, np.eye(3), atol=_ROTATION_TOLERANCE)
    return rotation if is_rotation else None


def view_from_pose(rotation: NDArray[np.float64], translation: NDArray[np.float64]) -> View:
    """Compute the direction to the camera from the pose of the object in camera coordinates.

    >>> view_from_pose(np.diag([1.0, -1, -1]), np.array([0.0, 0, 2]))
    View(azimuth=0.0, elevation=0.0)
    """
    x, y, z = -rotation.T @ translation
    sine = y / float(np.linalg.norm((x, y, z)))
    elevation = asin(max(-1.0, min(1.0, sine)))  # rounding can lead out of [-1, 1]
    return View(degrees(atan2(x, z)), degrees(elevation))


def turn_angle(first: View, second: View) -> float:
    """Return the turn from one view to another: degrees in [-180, 180), positive to the right.

    >>> turn_angle(View(170, 0), View(-170, 0))
    20
    """
    return (second.azimuth - first.azimuth + 180) % 360 - 180


def _video_draft(source: Path, file: Path, rng: Random) -> Draft | Rejection:
    """Ask which way the camera of a video turned between two random frames, as they are shown."""
    if file.parent.name in _SYMMETRIC:
        reason = f"a {file.parent.name} looks the same from all sides"
        return Rejection(entry=file.name, reason=reason)
    frames = _read_frames(source, file)
    if len(frames) < 2:
        reason = f"expected two frames with a pose, got {len(frames)}"
        return Rejection(entry=file.name, reason=reason)
    pair = _draw_turn(frames, rng)
    if pair is None:
        reason = f"ambiguous: no clear turn in {_TRIES} pairs of frames"
        return Rejection(entry=file.name, reason=reason)
    first, second = pair
    is_mirrored = read_annotated_frame(first.image).is_mirrored
    if read_annotated_frame(second.image).is_mirrored != is_mirrored:
        raise SourceError(f"{file}: by EXIF, only one of two frames is mirrored")
    entry = f"{file.name}, {first.image.stem} and {second.image.stem}"
    turns_right = turn_angle(first.view, second.view) > 0
    if turns_right == is_mirrored:  # a mirrored turn to the right goes to the left
        first, second = second, first
    return _turn_draft(entry, start=first, end=second)


def _draw_turn(frames: Sequence[_Frame], rng: Random) -> tuple[_Frame, _Frame] | None:
    """Draw two frames between which the camera clearly turns; None if ``_TRIES`` pairs do not."""
    for _ in range(_TRIES):
        first, second = rng.sample(frames, 2)
        turn = abs(turn_angle(first.view, second.view))
        rise = abs(second.view.elevation - first.view.elevation)
        if _MIN_TURN <= turn <= _MAX_TURN and rise <= _MAX_RISE * turn:
            return first, second
    return None


def _turn_draft(entry: str, *, start: _Frame, end: _Frame) -> Draft:
    """Draft a question: from start to end the camera moves right, in reverse left."""

    def show(place: int, marks: Marks) -> DraftView:
        first, second = (end, start) if place == 0 else (start, end)
        return DraftView(
            wording=wording("Multi-view_Reasoning"),
            images=(first.image.read_bytes(), second.image.read_bytes()),
            options=("left", "right"),
        )

    return Draft(
        entry=entry, originals=(start.image, end.image), n_options=2, places=(0, 1), show=show
    )


def _read_frames(source: Path, file: Path) -> list[_Frame]:
    """List the readable frames with a valid pose; ``SourceError`` if none can be read."""
    content = read_arrays(file)
    annotations = content.get("annotations") if isinstance(content, dict) else None
    if not isinstance(annotations, list):
        raise SourceError(f"{file}: expected an object with a list 'annotations'")
    frames: list[_Frame | None] = []
    errors: list[SourceError] = []
    for index, annotation in enumerate(annotations):
        try:
            frames.append(_parse_frame(source, annotation, f"{file}, annotation {index}"))
        except SourceError as error:
            errors.append(error)
    if errors and not frames:
        raise errors[0]
    return [frame for frame in frames if frame is not None]


def _parse_frame(source: Path, annotation: object, where: str) -> _Frame | None:
    """Return the frame of an annotation; None if its pose is not valid.

    A valid pose has a rotation, which may be scaled, and a translation other than 0.
    """
    match annotation:
        case {"name": str(name), "rotation": rotation, "translation": translation}:
            scaled_rotation = _read_array(rotation, (3, 3), where)
            translation = _read_array(translation, (3,), where)
        case _:
            raise SourceError(f"{where}: expected name, rotation and translation")
    if name.count("/") != 3:
        raise SourceError(f"{where}: name is {name!r}, expected category/object/video/frame")
    rotation = remove_scale(scaled_rotation)
    if rotation is None or not translation.any():
        return None
    image = _find_image(source / "test_set", name, where)
    return _Frame(image, view_from_pose(rotation, translation))


def _find_image(test_set: Path, name: str, where: str) -> Path:
    """Find the image of a frame, whose folder or leading zeros may differ from its name."""
    category, instance, video, frame = name.split("/")
    image = image_file(test_set, f"{category}/{instance}/{video}/images/{frame}.jpg", where)
    if not image.parent.is_dir():
        folder = _FOLDERS.get(category, category)
        image = image_file(test_set, f"{folder}/{instance}/{video}/images/{frame}.jpg", where)
    if image.is_file() or not frame.isdecimal():
        return image
    other_files = (file for file in image.parent.glob("*.jpg") if file.stem.isdecimal())
    return next((file for file in other_files if int(file.stem) == int(frame)), image)


def _read_array(value: object, shape: tuple[int, ...], where: str) -> NDArray[np.float64]:
    try:
        array = np.asarray(value)
    except ValueError as error:  # lists of unlike lengths
        raise SourceError(f"{where}: expected numbers of shape {shape}: {error}") from error
    if array.shape != shape or array.dtype.kind not in "fi" or not np.isfinite(array).all():
        raise SourceError(f"{where}: expected numbers of shape {shape}, found {value!r:.60}")
    return array.astype(np.float64)
