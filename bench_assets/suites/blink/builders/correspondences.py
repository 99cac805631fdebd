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
from dataclasses import replace
from functools import partial
from itertools import chain, combinations, zip_longest
from math import dist
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeAlias

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
    read_located_lines,
    read_numbers,
)

_TOO_CLOSE = "ambiguous: the points lie too close together"
_N_FUNCTIONS = 5  # points of a tool

# Of interest points; not given by the paper.
_MIN_VIEW_DISTANCE = 0.08  # distance between any two options, as a share of the image's height
_MARGIN = 0.03  # distance from the edges of both images, as a share of the height
_CORNER_QUALITY = 0.05  # strength, at least, as a share of the strongest corner's
_CORNER_DISTANCE = 0.02  # distance between corners, at least, as a share of the height
_MAX_CORNERS = 300  # corners found in an image

_MIN_DETERMINANT = 1e-12  # absolute value, below which a homography counts as singular

Homography = NDArray[np.float64]  # 3 x 3; px of one image to px of another, as stored


class _AnnotatedObject(NamedTuple):
    """An image of an object with its annotated points."""

    image: Path
    name: str  # of the object
    points: list[Point]  # px, as annotated
    size: Size | None  # px, as stated
    action: str = ""  # that a tool is for


_ObjectPair: TypeAlias = tuple[_AnnotatedObject, _AnnotatedObject]


def functional_correspondence(source: Path, rng: Random) -> Candidates:
    """Ask about one random point of pairs of different objects; an image is in one pair at most."""
    table = make_rows(read_entries(source / "annotations.json"), partial(_parse_tool, source))
    yield from table.rejections
    tools_by_action: dict[str, list[_AnnotatedObject]] = defaultdict(list)
    for tool in table.rows:
        tools_by_action[tool.action].append(tool)
    named_pairs = [
        ((first, second), f"{action}: {first.image.name} and {second.image.name}")
        for action in sorted(tools_by_action)
        for first, second in _pair_tools(tools_by_action[action], rng)
    ]

    def make(pair: _ObjectPair, entry: str) -> Draft | Rejection:
        first, _ = pair
        task = "Functional_Correspondence"
        return _random_point_draft(task, entry, pair, rng, action=first.action)

    yield from make_candidates(named_pairs, rng, make)


def semantic_correspondence(source: Path, rng: Random) -> Candidates:
    """Ask about one random point of each pair, in random order."""
    files = [(file, str(file)) for file in files_in(source, "PairAnnotation/*/*.json")]
    return make_candidates(files, rng, lambda file, _: _animal_pair_draft(source, file, rng))


def visual_correspondence(source: Path, rng: Random) -> Candidates:
    """Ask about disjoint pairs of images, three per sequence of six; sequences in random order.

    The first pairs of all sequences come first, then the second ones, so that any number of
    questions covers as many scenes as possible. The 116 sequences have 348 such pairs; the paper
    has 344 questions.
    """
    folders = folders_in(source)
    sequences = rng.sample(folders, len(folders))
    pairs_by_sequence = [_image_pairs(sequence, rng) for sequence in sequences]
    for sequence, pairs in zip(sequences, pairs_by_sequence, strict=True):
        if not pairs:
            yield Rejection(entry=sequence.name, reason="expected images 1.ppm to 6.ppm")
    rounds = zip_longest(*pairs_by_sequence)  # one pair of each sequence, None if it has no more
    rows = [
        ((first, second), f"{first.parent}, images {first.stem} and {second.stem}")
        for first, second in filter(None, chain.from_iterable(rounds))
    ]
    yield from make_ordered_candidates(rows, lambda images, _: _view_draft(images, rng))


def project(homography: Homography, point: Point) -> Point:
    """Map a point by a homography; px.

    >>> project(np.array([[2.0, 0, 10], [0, 2, 0], [0, 0, 1]]), (3, 4))
    (16.0, 8.0)
    """
    x, y, w = homography @ (*point, 1.0)
    return float(x / w), float(y / w)


def _animal_pair_draft(source: Path, file: Path, rng: Random) -> Draft | Rejection:
    first, second = _parse_animals(source, read_object(file), str(file))
    entry = f"{file.parent.name}/{file.name}"
    n_points = len(first.points)
    if n_points < 4:
        return Rejection(entry=entry, reason=f"expected four common points, got {n_points}")
    return _random_point_draft("Semantic_Correspondence", entry, (first, second), rng)


def _random_point_draft(
    task: str, entry: str, pair: _ObjectPair, rng: Random, **blanks: str
) -> Draft | Rejection:
    """Circle a random point of the first image and ask for its match on the second.

    Options lie apart by a share of the largest distance of two points.
    """
    first, second = pair
    index = rng.randrange(len(first.points))
    first_frame = read_annotated_frame(first.image, first.size)
    second_frame = read_annotated_frame(second.image, second.size)
    reference = first_frame.to_shown(first.points[index])
    points = [second_frame.to_shown(point) for point in second.points]
    distance = MIN_DISTANCE * max(dist(a, b) for a, b in combinations(points, 2))
    correspondence = PointCorrespondence(
        first=first.image,
        second=second.image,
        reference=reference,
        match=points.pop(index),
        other_points=points,
    )
    draft = match_choice(task, entry, correspondence, distance, rng, **blanks)
    return draft or Rejection(entry=entry, reason=_TOO_CLOSE)


def _pair_tools(tools: list[_AnnotatedObject], rng: Random) -> list[_ObjectPair]:
    """Pair images of different objects; an image without a partner is left out."""
    unpaired = rng.sample(tools, len(tools))
    pairs = []
    while unpaired:
        first = unpaired.pop()
        second = next((tool for tool in unpaired if tool.name != first.name), None)
        if second is not None:
            unpaired.remove(second)
            pairs.append((first, second))
    return pairs


def _parse_tool(source: Path, entry: Entry, where: str) -> _AnnotatedObject:
    action = require_field(entry, "action", str, where)
    points = _read_points(entry, "points", where)
    if len(points) != _N_FUNCTIONS:
        raise SourceError(f"{where}: field 'points' has {len(points)} points, expected five")
    size = None
    if "width" in entry or "height" in entry:
        width = require_field(entry, "width", int, where)
        size = width, require_field(entry, "height", int, where)
    return _AnnotatedObject(
        image=image_file(source, require_field(entry, "image", str, where), where),
        name=require_field(entry, "object", str, where),
        points=points,
        size=size,
        action=action,
    )


def _parse_animals(source: Path, pair: Entry, where: str) -> _ObjectPair:
    category = require_field(pair, "category", str, where)
    folder = source / "JPEGImages" / category
    first, second = (
        _AnnotatedObject(
            image=image_file(folder, require_field(pair, f"{side}_imname", str, where), where),
            name=category,
            points=_read_points(pair, f"{side}_kps", where),
            size=_read_size(pair, f"{side}_imsize", where),
        )
        for side in ("src", "trg")
    )
    if len(first.points) != len(second.points):
        raise SourceError(f"{where}: {len(first.points)} points correspond to {len(second.points)}")
    return first, second


def _read_points(entry: Entry, name: str, where: str) -> list[Point]:
    points = []
    for number, point in enumerate(require_field(entry, name, list, where), 1):
        x, y = read_numbers(point, 2, f"{where}: point {number} of {name!r}")
        points.append((x, y))
    return points


def _read_size(pair: Entry, name: str, where: str) -> Size | None:
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


def _view_draft(images: tuple[Path, Path], rng: Random) -> Draft | Rejection:
    """Circle a random interest point of the first image whose match has distant distractors."""
    first, second = images
    entry = f"{first.parent.name}, images {first.stem} and {second.stem}"
    homography = _read_homography(second) @ np.linalg.inv(_read_homography(first))
    first_frame, second_frame = read_annotated_frame(first), read_annotated_frame(second)
    matches = _shared_points(first, first_frame, second_frame, homography)
    rng.shuffle(matches)
    _, height = second_frame.shown
    second_points = [point for _, point in matches]
    for reference, match in matches:
        pair = PointCorrespondence(
            first=first,
            second=second,
            reference=reference,
            match=match,
            other_points=second_points,
        )
        draft = match_choice("Visual_Correspondence", entry, pair, _MIN_VIEW_DISTANCE * height, rng)
        if draft is not None:
            return replace(draft, scene=first.parent.name)
    reason = f"no four of {len(matches)} common interest points lie far enough apart"
    return Rejection(entry=entry, reason=reason)


def _shared_points(
    first: Path, first_frame: ImageFrame, second_frame: ImageFrame, homography: Homography
) -> list[tuple[Point, Point]]:
    """List the interest points visible in both images, as (first, second) px."""
    shared_points = []
    for point in _interest_points(first):
        match = second_frame.to_shown(project(homography, first_frame.to_stored(point)))
        if _is_inside(match, second_frame.shown):
            shared_points.append((point, match))
    return shared_points


def _read_homography(image: Path) -> Homography:
    """Read the homography from px of image 1 of the sequence to px of this image."""
    if image.stem == "1":
        return np.eye(3)
    file = image.with_name(f"H_1_{image.stem}")
    try:
        rows = [[float(cell) for cell in line.split()] for line, _ in read_located_lines(file)]
    except ValueError as error:
        raise SourceError(f"{file}: not a table of numbers: {error}") from error
    if [len(row) for row in rows] != [3, 3, 3] or not np.isfinite(rows).all():
        raise SourceError(f"{file}: expected three lines of three numbers")
    if abs(np.linalg.det(rows)) < _MIN_DETERMINANT:
        raise SourceError(f"{file}: not a homography: its determinant is 0")
    return np.array(rows)


def _interest_points(file: Path) -> list[Point]:
    """Find corners (Shi and Tomasi) away from the edges, the strongest first."""
    require_extra("BLINK's interest points", "cv2")
    import cv2

    image = np.asarray(read_image(file).convert("L"))
    height, width = image.shape
    corners = cv2.goodFeaturesToTrack(
        image, _MAX_CORNERS, _CORNER_QUALITY, _CORNER_DISTANCE * height
    )
    if corners is None:
        return []
    points = [(float(x), float(y)) for x, y in corners[:, 0]]
    return [point for point in points if _is_inside(point, (width, height))]


def _is_inside(point: Point, size: Size) -> bool:
    """Whether a point lies in an image of this size, away from its edges."""
    (x, y), (width, height) = point, size
    margin = _MARGIN * height
    return margin <= x <= width - margin and margin <= y <= height - margin
