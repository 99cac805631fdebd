"""Box and point answers: intersection over union, inside a box, or near a point."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import hypot

from bench_assets.core.answer_types.definition import AnswerType, Gold, Grade, RowContext
from bench_assets.core.answer_types.numbers import EXACT, Tolerance
from bench_assets.core.answer_types.options import parse_list
from bench_assets.core.answer_types.regions import (
    PIXELS,
    Convention,
    Frame,
    Numbers,
    Regions,
    boxes_in,
    convert_coordinates,
    corners,
    points_in,
    read_gold_box,
)
from bench_assets.core.schema.errors import SettingsError, SourceError

_FINAL = re.compile(r"\b(?:answer|result)\b", re.IGNORECASE)
_SIDES = 4  # numbers of a box; a point has two
_FORMS = {"xywh": "[x, y, width, height]", "yxyx": "[y1, x1, y2, x2]"}


@dataclass(frozen=True, slots=True)
class _RegionAnswer(AnswerType):
    """A region of an image, in the conventions of the file and of responses."""

    coordinates: Convention = PIXELS
    response_coordinates: Convention | None = None

    @property
    def _requested(self) -> Convention:
        """Convention that the prompt asks for: configured, or corners in the scale of the file."""
        return self.response_coordinates or Convention("xyxy", self.coordinates.scale)

    def _instruction(self, shape: str, form: str) -> str:
        scale = self._requested.scale
        within = "in pixels" if scale == "pixels" else f"between {scale.replace('..', ' and ')}"
        return f"Answer with the {shape} as {form}, {within}."

    def _convention(self, regions: Regions, frame: Frame | None) -> Convention:
        """Convention of a response: configured, recognised, or as the prompt asks for it."""
        convention = self.response_coordinates or regions.convention
        if convention is None:
            numbers = [n for region in regions.found for n in region]
            fractions = max(numbers) <= 1 and any(n % 1 for n in numbers)
            is_larger = frame is not None and max(frame) > 1
            convention = Convention("xyxy", "0..1") if fractions and is_larger else self._requested
        return convention._replace(order="xyxy") if regions.are_corners else convention

    def _read(
        self, response: str, regions_in: Callable[[str], Regions], gold: Gold
    ) -> list[Numbers]:
        """Boxes or points after the last "answer" or "result", else all, in the gold's frame."""
        *_, final = _FINAL.split(response)
        regions = regions_in(final)
        regions = regions if regions.found else regions_in(response)
        if not regions.found:
            return []
        _, frame = _parse_stored_region(gold.answer[0])
        convention = self._convention(regions, frame)
        found = dict.fromkeys(regions.found)  # equal ones count once
        boxes = (corners(r, convention.order) if len(r) == _SIDES else r for r in found)
        return [convert_coordinates(box, convention.frame(frame), frame) for box in boxes]

    def _gold(self, numbers: Numbers, context: RowContext) -> Gold:
        """Store a region in pixels if the image is known, else in the scale of the file."""
        width, height = context.image_size or (0, 0)
        size = (float(width), float(height)) if context.image_size else None
        frame = self.coordinates.frame(size)
        into = size or frame
        written = ",".join(f"{n:.10g}" for n in convert_coordinates(numbers, frame, into))
        return Gold("text", (f"{written} of {into[0]:g}x{into[1]:g}" if into else written,))


@dataclass(frozen=True, slots=True)
class BoxAnswer(_RegionAnswer):
    """A box; points are the intersection over union (IoU)."""

    @property
    def instruction(self) -> str:
        """Ask for a box in the convention in which it is read."""
        form = _FORMS.get(self._requested.order, "[x1, y1, x2, y2]")
        return self._instruction("bounding box", form)

    def gold(self, value: object, context: RowContext) -> Gold:
        """Read the box; it is stored as its corners and their frame."""
        return self._gold(read_gold_box(parse_list(value), self.coordinates.order), context)

    def grade(self, response: str, gold: Gold) -> Grade:
        """Give the IoU with the box."""
        boxes = self._read(response, boxes_in, gold)
        read = tuple(",".join(f"{side:g}" for side in box) for box in boxes)
        if len(boxes) != 1:
            return Grade(None, read, f"{len(boxes) or 'no'} boxes (expected 1)")
        return Grade(iou(_parse_stored_region(gold.answer[0])[0], boxes[0]), read, "")


@dataclass(frozen=True, slots=True)
class PointAnswer(_RegionAnswer):
    """A point inside a box, or within a distance of a point."""

    tolerance: Tolerance = EXACT

    @property
    def instruction(self) -> str:
        """Ask for a point in the convention in which it is read."""
        return self._instruction("point", "[x, y]")

    def gold(self, value: object, context: RowContext) -> Gold:
        """Read a point, or the box that it has to be in."""
        try:
            region = read_gold_box(parse_list(value), self.coordinates.order)
        except SourceError as error:
            if len(points := points_in(str(value)).found) != 1:
                reason = f"answer {value!r:.60} (expected a point, or the one box around it)"
                raise SourceError(reason) from error
            (region,) = points
            if not (self.tolerance.absolute or self.tolerance.relative):
                reason = 'tolerance: a point needs one, such as "20" or "5%" of the diagonal'
                raise SettingsError(reason) from None
        return self._gold(region, context)

    def grade(self, response: str, gold: Gold) -> Grade:
        """Give 1 for a point in the box, or near the point; a box counts by its centre."""
        boxes = self._read(response, boxes_in, gold)
        centres: list[Numbers] = [((a + c) / 2, (b + d) / 2) for a, b, c, d in boxes]
        points = centres or self._read(response, points_in, gold)
        if len(points) != 1:
            return Grade(None, (), f"{len(points) or 'no'} points (expected 1)")
        ((x, y),) = points
        region, frame = _parse_stored_region(gold.answer[0])
        if len(region) == _SIDES:
            is_right = region[0] <= x <= region[2] and region[1] <= y <= region[3]
        else:
            relative = self.tolerance.relative * hypot(*frame) if frame else 0
            bound = max(self.tolerance.absolute, relative) * (1 + 1e-9)
            is_right = hypot(x - region[0], y - region[1]) <= bound
        return Grade(float(is_right), (f"{x:g},{y:g}",), "")


def iou(one: Sequence[float], other: Sequence[float]) -> float:
    """Intersection over union of two boxes, each left, top, right, bottom.

    >>> iou((0, 0, 2, 2), (1, 0, 3, 2))
    0.3333333333333333
    """
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    if width <= 0 or height <= 0:
        return 0.0
    overlap = width * height
    areas = ((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return overlap / (sum(areas) - overlap)


def _parse_stored_region(text: str) -> tuple[Numbers, Frame | None]:
    numbers, _, size = text.partition(" of ")
    width, _, height = size.partition("x")
    return tuple(map(float, numbers.split(","))), (float(width), float(height)) if size else None
