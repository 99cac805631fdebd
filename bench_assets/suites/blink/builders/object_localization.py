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

from bench_assets.core.answer_types.boxes import iou
from bench_assets.core.images.drawing import (
    Box,
    LabelledBox,
    box_between,
    draw_labelled_boxes,
    encode_jpeg,
    scale_to_height,
)
from bench_assets.core.images.orientation import ImageFrame, Size, read_annotated_frame
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Rejection
from bench_assets.core.tables.build import Table
from bench_assets.core.tables.json_records import Entry, read_object, require_field
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
_TRIES = 200  # noisy boxes that are tried before an object is rejected


# The paper says only "Gaussian noise". All but the noise are those of LIVR, a later paper that
# builds similar data.
_NOISE = 0.25  # standard deviation of a corner's shift, as a share of the box's width and height
_MIN_OVERLAP = 0.2  # intersection over union of the two boxes, at least
_MAX_OVERLAP = 0.5  # intersection over union, at most: closer boxes are hard to tell apart
_MIN_SHARE = 0.15  # share of the image that the box covers, at least
_MAX_SHARE = 0.5  # share of the image that the box covers, at most
_MIN_FILLED = 0.6  # share of the box that the object's mask covers, at least


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
    """Ask for one random object of each image, in random order."""
    file = source / "lvis_v1_val.json"
    content, table = read_object(file), Table[Draft]()
    names: dict[int, str] = {}
    for entry, where in read_objects(content, "categories", str(file)):
        with table.rejecting(where):
            names[require_field(entry, "id", int, where)] = require_field(entry, "name", str, where)
    objects_by_image: dict[int, list[_Object]] = defaultdict(list)
    incomplete_images = set[str]()  # ids of images with an annotation that is rejected
    for entry, where in read_objects(content, "annotations", str(file)):
        n_rejected = len(table.rejections)
        with table.rejecting(where):
            image_id = require_field(entry, "image_id", int, where)
            objects_by_image[image_id].append(_parse_object(entry, names, where))
        if len(table.rejections) > n_rejected:
            incomplete_images.add(str(entry.get("image_id")))
    yield from table.rejections

    def make(entry: Entry, where: str) -> Draft | Rejection:
        image_id = require_field(entry, "id", int, where)
        if str(image_id) in incomplete_images:
            raise SourceError(f"{where}: not all of its annotations can be read")
        return _object_draft(_parse_image(source, entry, where), objects_by_image[image_id], rng)

    yield from make_candidates(read_objects(content, "images", str(file)), rng, make)


def plain_name(category: str) -> str:
    """Return the name of a category in words, without its disambiguation.

    >>> plain_name("car_(automobile)"), plain_name("baseball_bat")
    ('car', 'baseball bat')
    """
    return re.sub(r"\(.*?\)", "", category).replace("_", " ").strip()


def jitter_box(box: Box, size: Size, rng: Random) -> Box | None:
    """Shift the corners by Gaussian noise, within the image, until the overlap fits.

    None after ``_TRIES`` tries.
    """
    left, top, right, bottom = box
    x_noise, y_noise = (right - left) * _NOISE, (bottom - top) * _NOISE
    max_x, max_y = size
    for _ in range(_TRIES):
        new_left = min(max(rng.gauss(left, x_noise), 0.0), max_x)
        new_right = min(max(rng.gauss(right, x_noise), 0.0), max_x)
        new_top = min(max(rng.gauss(top, y_noise), 0.0), max_y)
        new_bottom = min(max(rng.gauss(bottom, y_noise), 0.0), max_y)
        noisy_box = (new_left, new_top, new_right, new_bottom)
        if _MIN_OVERLAP <= iou(box, noisy_box) <= _MAX_OVERLAP:
            return noisy_box
    return None


def _object_draft(image: _Image, objects: Sequence[_Object], rng: Random) -> Draft | Rejection:
    """Ask for the box of one random clear object, against a noisy one."""
    clear = [
        obj
        for obj in objects
        if obj.category not in image.unlisted and _is_clear(obj, objects, image.size)
    ]
    if not clear:
        return Rejection(entry=image.name, reason="no object alone of its kind and of a fit size")
    obj = rng.choice(clear)
    entry = f"{image.name}, annotation {obj.annotation}"
    noisy_box = jitter_box(obj.box, image.size, rng)
    if noisy_box is None:
        return Rejection(entry=entry, reason=f"{_TRIES} noisy boxes overlap too much or too little")
    frame = read_annotated_frame(image.file, image.size)
    right, wrong = _box_on_upright(obj.box, frame), _box_on_upright(noisy_box, frame)
    return _box_draft(entry, image.file, obj.noun, right, wrong)


def _box_draft(entry: str, file: Path, noun: str, right: Box, wrong: Box) -> Draft:
    """Draft a question about two boxes, in px of the upright image."""

    def show(place: int, marks: Marks) -> DraftView:
        image = read_image(file)
        scale = marks.height / image.height
        options = zip("AB", insert_at(right, [wrong], place), _COLOURS, strict=True)
        boxes = [
            LabelledBox(label=label, box=_scale_box(box, scale), colour=colour)
            for label, box, colour in options
        ]
        drawn = draw_labelled_boxes(scale_to_height(image, marks.height), boxes)
        return DraftView(
            wording=wording("Object_Localization", noun=noun),
            images=(encode_jpeg(drawn),),
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
    """Whether an object is the only one of its name, of a fit size and fills its box."""
    (left, top, right, bottom), (width, height) = obj.box, size
    share = (right - left) * (bottom - top) / (width * height)
    # Names are compared, not categories: "bat_(animal)" and "bat_(sports)" are both a bat.
    is_alone = [other.noun for other in objects].count(obj.noun) == 1
    return is_alone and _MIN_SHARE <= share <= _MAX_SHARE and obj.filled >= _MIN_FILLED


def _parse_object(entry: Entry, names: Mapping[int, str], where: str) -> _Object:
    left, top, width, height = read_numbers(entry.get("bbox"), 4, f"{where}: field 'bbox'")
    category = require_field(entry, "category_id", int, where)
    if category not in names:
        raise SourceError(f"{where}: unknown category {category}")
    if width <= 0 or height <= 0:
        size = f"{width:g} x {height:g} px"
        raise SourceError(f"{where}: field 'bbox' is {size}, expected more than 0")
    return _Object(
        annotation=require_field(entry, "id", int, where),
        category=category,
        noun=plain_name(names[category]),
        box=(left, top, left + width, top + height),
        filled=read_number(entry, "area", where) / (width * height),
    )


def _parse_image(source: Path, image: Entry, where: str) -> _Image:
    name = "/".join(require_field(image, "coco_url", str, where).split("/")[-2:])
    width = require_field(image, "width", int, where)
    height = require_field(image, "height", int, where)
    unlisted = image.get("not_exhaustive_category_ids", [])
    if not isinstance(unlisted, list) or not all(isinstance(value, int) for value in unlisted):
        raise SourceError(
            f"{where}: field 'not_exhaustive_category_ids' is {unlisted!r:.60}, expected numbers"
        )
    if width <= 0 or height <= 0:
        raise SourceError(f"{where}: the image is of {width} x {height} px, expected more than 0")
    return _Image(
        file=image_file(source, name, where),
        name=name,
        size=(width, height),
        unlisted=tuple(unlisted),
    )


def _box_on_upright(box: Box, frame: ImageFrame) -> Box:
    """Convert a box to px of the upright image."""
    left, top, right, bottom = box
    return box_between(frame.to_shown((left, top)), frame.to_shown((right, bottom)))


def _scale_box(box: Box, scale: float) -> Box:
    left, top, right, bottom = box
    return left * scale, top * scale, right * scale, bottom * scale
