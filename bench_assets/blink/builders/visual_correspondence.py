"""Visual correspondence: the same point of a scene under another view or light (section 3.2).

Raw data: HPatches, ``<sequence>/1.ppm`` to ``6.ppm`` (any picture format) and
``<sequence>/H_1_2`` to ``H_1_6``, three lines of three numbers: the homography that takes px of
picture 1 to px of picture n.
"""

from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from bench_assets.blink.builders import points
from bench_assets.blink.builders.draft import Candidates, Draft, Marks, Wording, wording
from bench_assets.blink.builders.raw import folders_in, lines_of, pictures_in, read_picture
from bench_assets.core.draw import Point
from bench_assets.core.errors import ImageError, SourceError
from bench_assets.core.rows import Rejection


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """Which interest points are taken; the paper gives none of these."""

    min_distance: float = 0.08
    """Between any two options, as a share of the picture's height."""
    margin: float = 0.03
    """From the edges of both pictures, as a share of the height."""
    corner_quality: float = 0.05
    """Of the strongest corner, the least strength of one that counts as an interest point."""


def build(source: Path, rng: Random, parameters: Parameters = Parameters()) -> Candidates:
    """Ask one question about each sequence, in drawn order.

    Raises:
        SourceError: If there is no sequence, or a homography is missing or not one; names it.
    """
    sequences = folders_in(source)
    for sequence in rng.sample(sequences, len(sequences)):
        yield _candidate(sequence, rng, parameters)


def to_second(homography: NDArray[np.float64], point: Point) -> Point:
    """Map a point by a homography; px.

    >>> to_second(np.array([[2.0, 0, 10], [0, 2, 0], [0, 0, 1]]), (3, 4))
    (16.0, 8.0)
    """
    x, y, w = homography @ (*point, 1.0)
    return float(x / w), float(y / w)


def _candidate(sequence: Path, rng: Random, parameters: Parameters) -> Draft | Rejection:
    pictures = {file.stem: file for file in pictures_in(sequence) if file.stem.isdecimal()}
    if len(pictures) < 2:
        raise SourceError(f"{sequence}: expected pictures 1.ppm to 6.ppm, found {len(pictures)}")
    first, second = rng.sample(sorted(pictures), 2)
    homography = _homography(sequence, second) @ np.linalg.inv(_homography(sequence, first))
    entry = f"{sequence.name}, pictures {first} and {second}"
    try:
        seen = _seen_in_both(pictures[first], pictures[second], homography, parameters)
        height = read_picture(pictures[second]).height
    except ImageError as why:
        return Rejection(entry=entry, reason=str(why))
    rng.shuffle(seen)
    for reference, match in seen:
        rest = [place for _, place in seen]
        others = points.three_apart(match, rest, parameters.min_distance * height, rng)
        if others:
            pair = points.Correspondence(
                first=pictures[first],
                second=pictures[second],
                reference=reference,
                match=match,
                others=others,
            )
            return points.draft(pair, entry, _asked)
    return Rejection(
        entry=entry, reason=f"no four of {len(seen)} interest points lie in both, far enough apart"
    )


def _seen_in_both(
    first: Path, second: Path, homography: NDArray[np.float64], parameters: Parameters
) -> list[tuple[Point, Point]]:
    """List the interest points of the first picture that the second shows, and where it does."""
    size = read_picture(second).size
    pairs = [(point, to_second(homography, point)) for point in _interest_points(first, parameters)]
    return [pair for pair in pairs if _inside(pair[1], size, parameters.margin)]


def _asked(marks: Marks) -> Wording:
    return wording("Visual_Correspondence", colour=marks.colour)


def _homography(sequence: Path, number: str) -> NDArray[np.float64]:
    if number == "1":
        return np.eye(3)
    file = sequence / f"H_1_{number}"
    try:
        rows = [[float(cell) for cell in line.split()] for line, _ in lines_of(file)]
    except ValueError as why:
        raise SourceError(f"{file}: not a table of numbers: {why}") from why
    if [len(row) for row in rows] != [3, 3, 3] or not np.isfinite(rows).all():
        raise SourceError(f"{file}: expected three lines of three numbers")
    if abs(np.linalg.det(rows)) < 1e-12:
        raise SourceError(f"{file}: not a homography: its determinant is 0")
    return np.array(rows)


def _interest_points(file: Path, parameters: Parameters) -> list[Point]:
    """Find corners (Shi and Tomasi) away from the edges, the strongest first."""
    import cv2

    picture = np.asarray(read_picture(file).convert("L"))
    height, width = picture.shape
    found = cv2.goodFeaturesToTrack(picture, 300, parameters.corner_quality, 0.02 * height)
    corners = [] if found is None else [(float(x), float(y)) for x, y in found[:, 0]]
    return [p for p in corners if _inside(p, (width, height), parameters.margin)]


def _inside(point: Point, size: tuple[int, int], margin: float) -> bool:
    border = margin * size[1]
    return all(border <= at <= length - border for at, length in zip(point, size, strict=True))
