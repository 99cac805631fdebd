"""Visual correspondence: the same point of a scene under another view or light (section 3.2).

Raw data: HPatches, ``<sequence>/1.ppm`` to ``6.ppm`` (any image format) and
``<sequence>/H_1_2`` to ``H_1_6``, three lines of three numbers: the homography that takes px of
image 1 to px of image n.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from bench_assets.core.images.drawing import Point
from bench_assets.core.schema.errors import ImageError, SourceError
from bench_assets.core.schema.rows import Rejection
from bench_assets.suites.blink.dataset.draft import (
    Candidates,
    Draft,
    Marks,
    QuestionWording,
    wording,
)
from bench_assets.suites.blink.raw_formats import point_pairs
from bench_assets.suites.blink.raw_formats.image_folders import (
    folders_in,
    images_in,
    lines_of,
    read_image,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VisualCorrespondenceParameters:
    """Which interest points are taken; the paper gives none of these."""

    min_distance: float = 0.08
    """Between any two options, as a share of the image's height."""
    margin: float = 0.03
    """From the edges of both images, as a share of the height."""
    corner_quality: float = 0.05
    """Of the strongest corner, the least strength of one that counts as an interest point."""


def build(
    source: Path,
    rng: Random,
    parameters: VisualCorrespondenceParameters = VisualCorrespondenceParameters(),
) -> Candidates:
    """Ask about disjoint pairs of images: three of a sequence of six; sequences in drawn order.

    The paper's 344 questions are of 116 sequences, which have 348 such pairs. The first pairs of
    all sequences come first, so that fewer questions are of as many scenes as possible.

    Raises:
        SourceError: If there is no sequence, or a homography is missing or not one; names it.
    """
    sequences = folders_in(source)
    pairs = [_pairs(sequence, rng) for sequence in rng.sample(sequences, len(sequences))]
    for nth in range(max(map(len, pairs))):
        for pair in (of_sequence[nth] for of_sequence in pairs if nth < len(of_sequence)):
            yield _candidate(pair, rng, parameters)


def to_second(homography: NDArray[np.float64], point: Point) -> Point:
    """Map a point by a homography; px.

    >>> to_second(np.array([[2.0, 0, 10], [0, 2, 0], [0, 0, 1]]), (3, 4))
    (16.0, 8.0)
    """
    x, y, w = homography @ (*point, 1.0)
    return float(x / w), float(y / w)


def _pairs(sequence: Path, rng: Random) -> list[tuple[Path, Path]]:
    """Draw pairs of a sequence's images; each image is in one of them at most."""
    images = [file for file in images_in(sequence) if file.stem.isdecimal()]
    if len(images) < 2:
        raise SourceError(f"{sequence}: expected images 1.ppm to 6.ppm, found {len(images)}")
    drawn = rng.sample(images, len(images))
    return list(zip(drawn[::2], drawn[1::2], strict=False))


def _candidate(
    images: tuple[Path, Path], rng: Random, parameters: VisualCorrespondenceParameters
) -> Draft | Rejection:
    first, second = images
    homography = _homography(second) @ np.linalg.inv(_homography(first))
    sequence = first.parent.name
    entry = f"{sequence}, images {first.stem} and {second.stem}"
    try:
        seen = _seen_in_both(first, second, homography, parameters)
        height = read_image(second).height
    except ImageError as why:
        return Rejection(entry=entry, reason=str(why))
    rng.shuffle(seen)
    for reference, match in seen:
        rest = [place for _, place in seen]
        others = point_pairs.three_apart(match, rest, parameters.min_distance * height, rng)
        if others:
            pair = point_pairs.Correspondence(
                first=first,
                second=second,
                reference=reference,
                match=match,
                others=others,
            )
            return replace(point_pairs.draft(pair, entry, _asked), scene=sequence)
    return Rejection(
        entry=entry, reason=f"no four of {len(seen)} interest points lie in both, far enough apart"
    )


def _seen_in_both(
    first: Path,
    second: Path,
    homography: NDArray[np.float64],
    parameters: VisualCorrespondenceParameters,
) -> list[tuple[Point, Point]]:
    """List the interest points of the first image that the second shows, and where it does."""
    size = read_image(second).size
    pairs = [(point, to_second(homography, point)) for point in _interest_points(first, parameters)]
    return [pair for pair in pairs if _inside(pair[1], size, parameters.margin)]


def _asked(marks: Marks) -> QuestionWording:
    return wording("Visual_Correspondence", colour=marks.colour)


def _homography(image: Path) -> NDArray[np.float64]:
    """The homography that takes px of image 1 of a sequence to px of this one."""
    if image.stem == "1":
        return np.eye(3)
    file = image.with_name(f"H_1_{image.stem}")
    try:
        rows = [[float(cell) for cell in line.split()] for line, _ in lines_of(file)]
    except ValueError as why:
        raise SourceError(f"{file}: not a table of numbers: {why}") from why
    if [len(row) for row in rows] != [3, 3, 3] or not np.isfinite(rows).all():
        raise SourceError(f"{file}: expected three lines of three numbers")
    if abs(np.linalg.det(rows)) < 1e-12:
        raise SourceError(f"{file}: not a homography: its determinant is 0")
    return np.array(rows)


def _interest_points(file: Path, parameters: VisualCorrespondenceParameters) -> list[Point]:
    """Find corners (Shi and Tomasi) away from the edges, the strongest first."""
    import cv2

    image = np.asarray(read_image(file).convert("L"))
    height, width = image.shape
    found = cv2.goodFeaturesToTrack(image, 300, parameters.corner_quality, 0.02 * height)
    corners = [] if found is None else [(float(x), float(y)) for x, y in found[:, 0]]
    return [p for p in corners if _inside(p, (width, height), parameters.margin)]


def _inside(point: Point, size: tuple[int, int], margin: float) -> bool:
    border = margin * size[1]
    return all(border <= at <= length - border for at, length in zip(point, size, strict=True))
