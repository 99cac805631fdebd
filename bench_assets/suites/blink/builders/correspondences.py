"""Tasks about the same point of two images: functional, semantic, visual (section 3.2).

Raw data, one folder per task:

* Functional_Correspondence: FunKPoint as ``annotations.json``, a list of ``{image, object, action,
  points, width, height}``: a path below the folder, what is shown, what it is used for, five points
  [x, y] in px, the n-th of every entry of one action having the same function, and optionally the
  size of the image that was annotated. (The data set is available on request and has no published
  layout; this one holds just what its paper describes.)
* Semantic_Correspondence: SPair-71k, ``PairAnnotation/<split>/<pair>.json`` with ``src_imname``,
  ``trg_imname``, ``category``, and ``src_kps`` and ``trg_kps``: [x, y] in px, the n-th of one
  corresponding to the n-th of the other; optionally ``src_imsize`` and ``trg_imsize`` (width,
  height, ...); images in ``JPEGImages/<category>/``;
* Visual_Correspondence: HPatches, ``<sequence>/1.ppm`` to ``6.ppm`` (any image format) and
  ``<sequence>/H_1_2`` to ``H_1_6``, three lines of three numbers: the homography that takes px of
  image 1 to px of image n.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, combinations, zip_longest
from math import dist
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench_assets.core.extras import require_extra
from bench_assets.core.images.drawing import Point
from bench_assets.core.images.orientation import ImageFrame, Size, read_annotated_frame
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Rejection
from bench_assets.core.tables.json_records import (
    Entry,
    make_rows,
    read_entries,
    read_object,
    require_field,
)
from bench_assets.suites.blink.builders.drafts import (
    MIN_DISTANCE,
    Candidates,
    Draft,
    PointCorrespondence,
    make_candidates,
    make_ordered_candidates,
    match_choice,
)
from bench_assets.suites.blink.builders.raw_files import (
    files_in,
    folders_in,
    image_file,
    images_in,
    read_image,
    read_lines_with_place,
    read_numbers,
)

_TOO_CLOSE = "ambiguous: the points lie too close together"
_N_FUNCTIONS = 5  # points of a tool

# Of interest points; not given by the paper.
_MIN_VIEW_DISTANCE = 0.08  # between any two options, as a share of the image's height
_MARGIN = 0.03  # from the edges of both images, as a share of the height
_CORNER_QUALITY = 0.05  # least strength, as a share of the strongest corner's

Homography = NDArray[np.float64]  # 3 x 3; px of one image to px of another, as stored


class _Tool(NamedTuple):
    image: Path
    name: str
    points: list[Point]  # px, as annotated
    size: Size | None  # px, as stated


def functional_correspondence(source: Path, rng: Random) -> Candidates:
    """Ask about one random point of pairs of different objects; every image is in one pair.

    Raises:
        SourceError: If the list cannot be read.
    """
    tools: dict[str, list[_Tool]] = defaultdict(list)
    read = make_rows(
        read_entries(source / "annotations.json"),
        lambda entry, where: (
            require_field(entry, "action", str, where),
            _tool(source, entry, where),
        ),
    )
    for action, tool in read.rows:
        tools[action].append(tool)
    yield from read.rejections
    pairs = [(action, *pair) for action in sorted(tools) for pair in _pairs(tools[action], rng)]
    named_pairs = [
        (pair, f"{pair[0]}: {pair[1].image.name} and {pair[2].image.name}") for pair in pairs
    ]

    def draft(pair: tuple[str, _Tool, _Tool], entry: str) -> Draft | Rejection:
        action, *tools = pair
        return _random_point_draft("Functional_Correspondence", entry, tools, rng, action=action)

    yield from make_candidates(named_pairs, rng, draft)


def semantic_correspondence(source: Path, rng: Random) -> Candidates:
    """Ask about one random point of each pair, in random order.

    Raises:
        SourceError: If there are no pairs.
    """
    files = [(file, str(file)) for file in files_in(source, "PairAnnotation/*/*.json")]

    def draft(file: Path, where: str) -> Draft | Rejection:
        pair = _animals(source, read_object(file), where)
        entry = f"{file.parent.name}/{file.name}"
        if (n := len(pair[0].points)) < 4:
            return Rejection(entry=entry, reason=f"four common points are needed, it has {n}")
        return _random_point_draft("Semantic_Correspondence", entry, pair, rng)

    return make_candidates(files, rng, draft)


def visual_correspondence(source: Path, rng: Random) -> Candidates:
    """Ask about disjoint pairs of images, three per sequence of six; sequences in random order.

    The first pairs of all sequences come first, then the second ones, so that any number of
    questions covers as many scenes as possible. The 116 sequences have 348 such pairs; the paper
    has 344 questions.

    Raises:
        SourceError: If there is no sequence.
    """
    folders = folders_in(source)
    sequences = rng.sample(folders, len(folders))
    pairs_by_sequence = [_image_pairs(sequence, rng) for sequence in sequences]
    for sequence, pairs in zip(sequences, pairs_by_sequence, strict=True):
        if not pairs:
            yield Rejection(entry=sequence.name, reason="expected images 1.ppm to 6.ppm")
    rows = [
        (pair, f"{pair[0].parent}, images {' and '.join(file.stem for file in pair)}")
        for pair in filter(None, chain.from_iterable(zip_longest(*pairs_by_sequence)))
    ]
    yield from make_ordered_candidates(
        rows, lambda pair, where: _view_draft(pair, Path(where).name, rng)
    )


def project(homography: Homography, point: Point) -> Point:
    """Map a point by a homography; px.

    >>> project(np.array([[2.0, 0, 10], [0, 2, 0], [0, 0, 1]]), (3, 4))
    (16.0, 8.0)
    """
    x, y, w = homography @ (*point, 1.0)
    return float(x / w), float(y / w)


def _random_point_draft(
    task: str, entry: str, pair: Sequence[_Tool], rng: Random, **blanks: str
) -> Draft | Rejection:
    """Circle a random point of the first image and ask for its match on the second.

    Options lie apart by a share of the largest distance of two points.
    """
    (first, second), nth = pair, rng.randrange(len(pair[0].points))
    frames = [read_annotated_frame(frame.image, frame.size) for frame in pair]
    reference = frames[0].to_shown(first.points[nth])
    points = [frames[1].to_shown(point) for point in second.points]
    other_points = points[:nth] + points[nth + 1 :]
    match = PointCorrespondence(first.image, second.image, reference, points[nth], other_points)
    distance = MIN_DISTANCE * max(
        dist(combination, other) for combination, other in combinations(points, 2)
    )
    draft = match_choice(task, entry, match, distance, rng, **blanks)
    return draft or Rejection(entry=entry, reason=_TOO_CLOSE)


def _pairs(tools: list[_Tool], rng: Random) -> list[tuple[_Tool, _Tool]]:
    """Pair images of different objects; an image without a partner is left out."""
    left = rng.sample(tools, len(tools))
    pairs = []
    while left:
        first = left.pop()
        second = next((tool for tool in left if tool.name != first.name), None)
        if second is not None:
            left.remove(second)
            pairs.append((first, second))
    return pairs


def _tool(source: Path, entry: Entry, where: str) -> _Tool:
    points = _points(entry, "points", where)
    if len(points) != _N_FUNCTIONS:
        raise SourceError(f"{where}: field 'points' has {len(points)} points, expected five")
    stated = "width" in entry or "height" in entry
    return _Tool(
        image=image_file(source, require_field(entry, "image", str, where), where),
        name=require_field(entry, "object", str, where),
        points=points,
        size=(require_field(entry, "width", int, where), require_field(entry, "height", int, where))
        if stated
        else None,
    )


def _animals(source: Path, pair: Entry, where: str) -> tuple[_Tool, _Tool]:
    category = require_field(pair, "category", str, where)
    folder = source / "JPEGImages" / category
    first, second = (
        _Tool(
            image=image_file(folder, require_field(pair, f"{side}_imname", str, where), where),
            name=category,
            points=_points(pair, f"{side}_kps", where),
            size=_image_size(pair, f"{side}_imsize", where),
        )
        for side in ("src", "trg")
    )
    if len(first.points) != len(second.points):
        count_fault = f"{len(first.points)} points correspond to {len(second.points)}"
        raise SourceError(f"{where}: {count_fault}")
    return first, second


def _points(entry: Entry, name: str, where: str) -> list[Point]:
    listed = [
        read_numbers(point, 2, f"{where}: point {nth} of {name!r}")
        for nth, point in enumerate(require_field(entry, name, list, where), 1)
    ]
    return [(x, y) for x, y in listed]


def _image_size(pair: Entry, name: str, where: str) -> Size | None:
    if name not in pair:
        return None
    size = require_field(pair, name, list, where)
    width, height = read_numbers(size[:2], 2, f"{where}: field {name!r}")
    return int(width), int(height)


def _image_pairs(sequence: Path, rng: Random) -> list[tuple[Path, Path]]:
    """Draw pairs of a sequence's images; each image is in one of them at most."""
    images = [file for file in images_in(sequence) if file.stem.isdecimal()]
    shuffled = rng.sample(images, len(images))
    return list(zip(shuffled[::2], shuffled[1::2], strict=False))


def _view_draft(images: tuple[Path, Path], entry: str, rng: Random) -> Draft | Rejection:
    first, second = images
    homography = _homography(second) @ np.linalg.inv(_homography(first))
    frames = read_annotated_frame(first), read_annotated_frame(second)
    points = _shared_points(first, frames, homography)
    rng.shuffle(points)
    distance = _MIN_VIEW_DISTANCE * frames[1].shown[1]
    for reference, match in points:
        rest = [point for _, point in points]
        pair = PointCorrespondence(first, second, reference, match, rest)
        if draft := match_choice("Visual_Correspondence", entry, pair, distance, rng):
            return replace(draft, scene=first.parent.name)
    reason = f"no four of {len(points)} interest points lie in both, far enough apart"
    return Rejection(entry=entry, reason=reason)


def _shared_points(
    first: Path, frames: tuple[ImageFrame, ImageFrame], homography: Homography
) -> list[tuple[Point, Point]]:
    """List the interest points visible in both images, as (first, second) px."""
    points = _interest_points(first)
    pairs = [
        (point, frames[1].to_shown(project(homography, frames[0].to_stored(point))))
        for point in points
    ]
    return [pair for pair in pairs if _is_inside(pair[1], frames[1].shown)]


def _homography(image: Path) -> Homography:
    """Read the homography from px of image 1 of the sequence to px of this image."""
    if image.stem == "1":
        return np.eye(3)
    file = image.with_name(f"H_1_{image.stem}")
    try:
        rows = [[float(cell) for cell in line.split()] for line, _ in read_lines_with_place(file)]
    except ValueError as error:
        raise SourceError(f"{file}: not a table of numbers: {error}") from error
    if [len(row) for row in rows] != [3, 3, 3] or not np.isfinite(rows).all():
        raise SourceError(f"{file}: expected three lines of three numbers")
    if abs(np.linalg.det(rows)) < 1e-12:
        raise SourceError(f"{file}: not a homography: its determinant is 0")
    return np.array(rows)


def _interest_points(file: Path) -> list[Point]:
    """Find corners (Shi and Tomasi) away from the edges, the strongest first."""
    require_extra("BLINK's interest points", "cv2")
    import cv2

    image = np.asarray(read_image(file).convert("L"))
    height, width = image.shape
    interest_points = cv2.goodFeaturesToTrack(image, 300, _CORNER_QUALITY, 0.02 * height)
    corners = (
        [] if interest_points is None else [(float(x), float(y)) for x, y in interest_points[:, 0]]
    )
    return [p for p in corners if _is_inside(p, (width, height))]


def _is_inside(point: Point, size: Size) -> bool:
    border = _MARGIN * size[1]
    return all(border <= at <= length - border for at, length in zip(point, size, strict=True))
