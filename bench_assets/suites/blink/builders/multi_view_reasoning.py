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

_FOLDERS = {"cup": "mug", "mug": "cup"}  # of categories, where their names differ
_ROTATION_TOLERANCE = 1e-2  # tolerance of a rotation: poses are estimates, stored as float32


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
    """Ask about two random frames of each video, in random order.

    Raises:
        SourceError: If there are no annotations.
    """
    files = files_in(source / "test_set", "pkl_annotations/*/*.pkl")
    named_files = [(file, str(file)) for file in files]
    return make_candidates(named_files, rng, lambda file, _: _candidate(source, file, rng))


def remove_scale(pose: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Remove the scale of a scaled rotation; None if the matrix is not one.

    >>> remove_scale(np.diag([2.0, -2, -2])).round(9).tolist()
    [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]]
    """
    volume = float(np.linalg.det(pose))
    if volume <= 0:
        return None
    rotation: NDArray[np.float64] = pose / volume ** (1 / 3)
    return (
        rotation
        if np.allclose(rotation @ rotation.T, np.eye(3), atol=_ROTATION_TOLERANCE)
        else None
    )


def view_of(rotation: NDArray[np.float64], translation: NDArray[np.float64]) -> View:
    """Compute the direction to the camera from the pose of the object in camera coordinates.

    >>> view_of(np.diag([1.0, -1, -1]), np.array([0.0, 0, 2]))
    View(azimuth=0.0, elevation=0.0)
    """
    x, y, z = -rotation.T @ translation
    rise = y / float(np.linalg.norm((x, y, z)))
    return View(degrees(atan2(x, z)), degrees(asin(max(-1.0, min(1.0, rise)))))


def turn_angle(first: View, second: View) -> float:
    """Turn around the object from one view to another: degrees in [-180, 180), right positive.

    >>> turn_angle(View(170, 0), View(-170, 0))
    20
    """
    return (second.azimuth - first.azimuth + 180) % 360 - 180


def _candidate(source: Path, file: Path, rng: Random) -> Draft | Rejection:
    if file.parent.name in _SYMMETRIC:
        reason = f"a {file.parent.name} looks the same from all sides"
        return Rejection(entry=file.name, reason=reason)
    frames = _frames(source, file)
    if len(frames) < 2:
        reason = f"two frames with a pose are needed, it has {len(frames)}"
        return Rejection(entry=file.name, reason=reason)
    for _ in range(_TRIES):
        first, second = rng.sample(frames, 2)
        angle = turn_angle(first.view, second.view)
        rise = abs(second.view.elevation - first.view.elevation)
        clear = _MIN_TURN <= abs(angle) <= _MAX_TURN
        if clear and rise <= _MAX_RISE * abs(angle):
            mirrored, other_mirrored = (
                read_annotated_frame(each.image).is_mirrored for each in (first, second)
            )
            if mirrored != other_mirrored:
                raise SourceError(f"{file}: by EXIF, only one of two frames is mirrored")
            ordered = (first, second) if (angle > 0) != mirrored else (second, first)
            return _draft(f"{file.name}, {first.image.stem} and {second.image.stem}", *ordered)
    return Rejection(
        entry=file.name, reason=f"ambiguous: no clear turn in {_TRIES} pairs of frames"
    )


def _draft(entry: str, before: _Frame, after: _Frame) -> Draft:
    """Draft a question: in this order the camera moves right, in reverse left."""

    def show(place: int, marks: Marks) -> DraftView:
        first, last = (after, before) if place == 0 else (before, after)
        return DraftView(
            asked=wording("Multi-view_Reasoning"),
            images=(first.image.read_bytes(), last.image.read_bytes()),
            options=("left", "right"),
        )

    return Draft(
        entry=entry,
        originals=(before.image, after.image),
        n_options=2,
        places=(0, 1),
        show=show,
    )


def _frames(source: Path, file: Path) -> list[_Frame]:
    """List the frames with a valid pose: a (scaled) rotation and a translation other than 0."""
    content = read_arrays(file)
    listed = content.get("annotations") if isinstance(content, dict) else None
    if not isinstance(listed, list):
        raise SourceError(f"{file}: expected an object with a list 'annotations'")
    frames, errors = list[_Frame | None](), list[SourceError]()
    for nth, entry in enumerate(listed):
        try:  # the file is one row of the source
            frames.append(_frame(source, entry, f"{file}, annotation {nth}"))
        except SourceError as error:
            errors.append(error)
    if errors and not frames:
        raise errors[0]
    return [frame for frame in frames if frame is not None]


def _frame(source: Path, entry: object, where: str) -> _Frame | None:
    match entry:
        case {"name": str(name), "rotation": rotation, "translation": translation}:
            pose = _numbers(rotation, (3, 3), where), _numbers(translation, (3,), where)
        case _:
            raise SourceError(f"{where}: expected name, rotation and translation")
    if len(parts := name.split("/")) != 4:
        raise SourceError(f"{where}: name is {name!r}, expected category/object/video/frame")
    rotation, translation = remove_scale(pose[0]), pose[1]
    if rotation is None or not translation.any():
        return None
    return _Frame(_image(source / "test_set", parts, where), view_of(rotation, translation))


def _image(test_set: Path, parts: Sequence[str], where: str) -> Path:
    """Find the image of a frame, whose folder or leading zeros may differ from its name."""
    category, instance, video, frame = parts
    image = image_file(test_set, f"{category}/{instance}/{video}/images/{frame}.jpg", where)
    if not image.parent.is_dir():
        folder = _FOLDERS.get(category, category)
        image = image_file(test_set, f"{folder}/{instance}/{video}/images/{frame}.jpg", where)
    if image.is_file() or not frame.isdecimal():
        return image
    other_files = (file for file in image.parent.glob("*.jpg") if file.stem.isdecimal())
    return next((file for file in other_files if int(file.stem) == int(frame)), image)


def _numbers(value: object, shape: tuple[int, ...], where: str) -> NDArray[np.float64]:
    try:
        array = np.asarray(value)
    except ValueError as error:  # lists of unlike lengths
        raise SourceError(f"{where}: expected numbers of shape {shape}: {error}") from error
    if array.shape != shape or array.dtype.kind not in "fi" or not np.isfinite(array).all():
        raise SourceError(f"{where}: expected numbers of shape {shape}, found {value!r:.60}")
    return array.astype(np.float64)
