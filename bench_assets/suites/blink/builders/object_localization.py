"""Object localization: which of two boxes fits an object better? (section 3.2).

Raw data: LVIS, ``lvis_v1_val.json`` with ``images`` (``id``, ``coco_url``, ``width``, ``height``,
``not_exhaustive_category_ids``: categories with objects that have no box),
``annotations`` (``id``, ``image_id``, ``category_id``, ``bbox``: left, top, width, height in px;
``area`` of the mask in px) and ``categories`` (``id``, ``name``: "car_(automobile)"); images are
stored under the last two parts of their ``coco_url``, such as ``val2017/000000000139.jpg``.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from bench_assets.core.images.drawing import (
    Box,
    LabelledBox,
    draw_labelled_boxes,
    encode_jpeg,
    scale_to_height,
)
from bench_assets.core.images.orientation import ImageFrame, Size, read_annotated_frame
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Rejection
from bench_assets.core.tables.build import Table
from bench_assets.core.tables.json_records import (
    Entry,
    read_object,
    require_field,
)
from bench_assets.suites.blink.builders.drafts import (
    Candidates,
    Draft,
    DraftView,
    Marks,
    insert_at,
    make_candidates,
    wording,
)
from bench_assets.suites.blink.builders.raw_files import (
    image_file,
    read_image,
    read_number,
    read_numbers,
    read_objects,
)

_COLOURS = ("red", "green")  # appendix A.1
_TRIES = 200  # noisy boxes


# The paper says only "Gaussian noise". All but the noise are those of LIVR, a later paper that
# builds similar data.
_NOISE = 0.25  # standard deviation of a corner's shift, as a share of the box's width and height
_MIN_OVERLAP, _MAX_OVERLAP = 0.2, 0.5  # intersection over union; above, two are hard to tell apart
_MIN_SHARE, _MAX_SHARE = 0.15, 0.5  # of the image that the box covers
_MIN_FILLED = 0.6  # least share of the box that the object's mask covers


class _Object(NamedTuple):
    annotation: int
    category: int
    noun: str
    box: Box
    filled: float  # share of the box that the mask covers


class _Image(NamedTuple):
    file: Path
    name: str  # path below the source
    size: Size  # px, as stated
    unlisted: tuple[int, ...]  # categories with objects that are not annotated


def object_localization(source: Path, rng: Random) -> Candidates:
    """Ask for one random object of each image, in random order.

    Raises:
        SourceError: If the file cannot be read, or lacks a list.
    """
    file = source / "lvis_v1_val.json"
    content, table = read_object(file), Table[Draft]()
    names: dict[int, str] = {}
    for entry, where in read_objects(content, "categories", str(file)):
        with table.rejecting(where):
            names[require_field(entry, "id", int, where)] = require_field(entry, "name", str, where)
    objects_by_image: dict[int, list[_Object]] = defaultdict(list)
    incomplete = set[str]()  # images with an annotation that is rejected
    for entry, where in read_objects(content, "annotations", str(file)):
        n_rejected = len(table.rejections)
        with table.rejecting(where):
            objects_by_image[require_field(entry, "image_id", int, where)].append(
                _object(entry, names, where)
            )
        if len(table.rejections) > n_rejected:
            incomplete.add(str(entry.get("image_id")))
    yield from table.rejections

    def candidate(image: Entry, where: str) -> Draft | Rejection:
        name = require_field(image, "id", int, where)
        if str(name) in incomplete:
            raise SourceError(f"{where}: not all of its annotations can be read")
        return _candidate(_image(source, image, where), objects_by_image[name], rng)

    yield from make_candidates(read_objects(content, "images", str(file)), rng, candidate)


def box_iou(one: Box, other: Box) -> float:
    """Intersection over union of two boxes.

    >>> box_iou((0, 0, 2, 2), (1, 0, 3, 2))
    0.3333333333333333
    """
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    shared = max(0.0, wide) * max(0.0, high)
    return shared / (_area(one) + _area(other) - shared)


def noun_of(category: str) -> str:
    """Return the plain name of a category, without its disambiguation.

    >>> noun_of("car_(automobile)"), noun_of("baseball_bat")
    ('car', 'baseball bat')
    """
    return re.sub(r"\(.*?\)", "", category).replace("_", " ").strip()


def jitter_box(box: Box, size: Size, rng: Random) -> Box | None:
    """Add Gaussian noise to the corners until the overlap fits; None after ``_TRIES`` tries."""
    left, top, right, bottom = box
    wide, high = (right - left) * _NOISE, (bottom - top) * _NOISE
    for _ in range(_TRIES):
        xs = [min(max(rng.gauss(x, wide), 0.0), size[0]) for x in (left, right)]
        ys = [min(max(rng.gauss(y, high), 0.0), size[1]) for y in (top, bottom)]
        moved = (xs[0], ys[0], xs[1], ys[1])
        upright = xs[0] < xs[1] and ys[0] < ys[1]
        if upright and _MIN_OVERLAP <= box_iou(box, moved) <= _MAX_OVERLAP:
            return moved
    return None


def _candidate(image: _Image, objects: Sequence[_Object], rng: Random) -> Draft | Rejection:
    listed = [obj for obj in objects if obj.category not in image.unlisted]
    clear = [obj for obj in listed if _is_clear(obj, objects, image.size)]
    if not clear:
        return Rejection(entry=image.name, reason="no object alone of its kind and of a fit size")
    obj = rng.choice(clear)
    entry = f"{image.name}, annotation {obj.annotation}"
    if (wrong := jitter_box(obj.box, image.size, rng)) is None:
        return Rejection(entry=entry, reason=f"{_TRIES} noisy boxes overlap too much or too little")
    frame = read_annotated_frame(image.file, image.size)
    right, wrong = (_box_on_upright(box, frame) for box in (obj.box, wrong))
    return _draft(entry, image.file, obj.noun, right, wrong)


def _draft(entry: str, file: Path, noun: str, right: Box, wrong: Box) -> Draft:
    def show(place: int, marks: Marks) -> DraftView:
        raw = read_image(file)
        scale = marks.height / raw.height
        boxes = [
            LabelledBox(label, _scaled(box, scale), colour)
            for label, box, colour in zip(
                "AB", insert_at(right, [wrong], place), _COLOURS, strict=True
            )
        ]
        return DraftView(
            asked=wording("Object_Localization", noun=noun),
            images=(encode_jpeg(draw_labelled_boxes(scale_to_height(raw, marks.height), boxes)),),
            options=("Box A", "Box B"),
        )

    return Draft(
        entry=entry,
        originals=(file,),
        points={file: (right[:2], right[2:])},
        n_options=2,
        places=(0, 1),
        show=show,
    )


def _is_clear(obj: _Object, objects: Sequence[_Object], size: Size) -> bool:
    share = _area(obj.box) / (size[0] * size[1])
    alone = (
        sum(neighbour.noun == obj.noun for neighbour in objects) == 1
    )  # "bat_(animal)", "bat_(sports)"
    return alone and _MIN_SHARE <= share <= _MAX_SHARE and obj.filled >= _MIN_FILLED


def _object(entry: Entry, names: Mapping[int, str], where: str) -> _Object:
    left, top, wide, high = read_numbers(entry.get("bbox"), 4, f"{where}: field 'bbox'")
    category = require_field(entry, "category_id", int, where)
    if category not in names:
        raise SourceError(f"{where}: unknown category {category}")
    if wide <= 0 or high <= 0:
        raise SourceError(f"{where}: field 'bbox' is {wide:g} x {high:g} px, expected more than 0")
    return _Object(
        annotation=require_field(entry, "id", int, where),
        category=category,
        noun=noun_of(names[category]),
        box=(left, top, left + wide, top + high),
        filled=read_number(entry, "area", where) / (wide * high),
    )


def _image(source: Path, image: Entry, where: str) -> _Image:
    name = "/".join(require_field(image, "coco_url", str, where).split("/")[-2:])
    size = require_field(image, "width", int, where), require_field(image, "height", int, where)
    unlisted = image.get("not_exhaustive_category_ids", [])
    if not isinstance(unlisted, list) or not all(
        isinstance(identifier, int) for identifier in unlisted
    ):
        raise SourceError(
            f"{where}: field 'not_exhaustive_category_ids' is {unlisted!r:.60}, expected numbers"
        )
    if min(size) <= 0:
        raise SourceError(
            f"{where}: the image is of {size[0]} x {size[1]} px, expected more than 0"
        )
    return _Image(image_file(source, name, where), name, size, tuple(unlisted))


def _box_on_upright(box: Box, frame: ImageFrame) -> Box:
    """The box on the upright image, its corners in order."""
    xs, ys = zip(*map(frame.to_shown, (box[:2], box[2:])), strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def _scaled(box: Box, scale: float) -> Box:
    left, top, right, bottom = (side * scale for side in box)
    return left, top, right, bottom


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])
