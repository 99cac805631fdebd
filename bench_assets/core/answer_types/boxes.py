"""Box and point answers: intersection over union, inside a box, or near a point."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import dist, hypot

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
    points_in,
    read_gold_box,
    to_corners,
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
        """Convention of a response: configured, shown by its notation, or as the prompt asks for.

        In the last case, fractions up to 1 are shares of the sides of a known image.
        """
        convention = self.response_coordinates or regions.convention
        if convention is None:
            numbers = [n for region in regions.coordinates for n in region]
            are_fractions = max(numbers) <= 1 and any(n % 1 for n in numbers)
            is_unit_square = are_fractions and frame is not None and max(frame) > 1
            convention = Convention("xyxy", "0..1") if is_unit_square else self._requested
        return convention._replace(order="xyxy") if regions.are_corners else convention

    def _read(self, response: str, find: Callable[[str], Regions], gold: Gold) -> list[Numbers]:
        """Distinct regions after the last "answer" or "result", else all, in the gold's frame."""
        *_, final = _FINAL.split(response)
        regions = find(final)
        regions = regions if regions.coordinates else find(response)
        if not regions.coordinates:
            return []
        _, frame = _parse_stored_region(gold.answer[0])
        convention = self._convention(regions, frame)
        distinct = dict.fromkeys(regions.coordinates)
        ordered = (to_corners(n, convention.order) if len(n) == _SIDES else n for n in distinct)
        return [convert_coordinates(n, convention.frame(frame), frame) for n in ordered]

    def _store(self, region: Numbers, context: RowContext) -> Gold:
        """Gold of a region, in pixels if the image is known, else in the scale of the file."""
        frame = self.coordinates.frame(context.image_size)
        stored_frame: Frame | None = context.image_size or frame
        numbers = convert_coordinates(region, frame, stored_frame)
        text = ",".join(f"{number:.10g}" for number in numbers)
        if stored_frame:
            width, height = stored_frame
            text = f"{text} of {width:g}x{height:g}"
        return Gold("text", (text,))


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
        return self._store(read_gold_box(parse_list(value), self.coordinates.order), context)

    def grade(self, response: str, gold: Gold) -> Grade:
        """Give the IoU with the box; unread unless the response has one box."""
        boxes = self._read(response, boxes_in, gold)
        read = tuple(",".join(f"{side:g}" for side in box) for box in boxes)
        if len(boxes) != 1:
            reason = f"{len(boxes) or 'no'} boxes (expected 1)"
            return Grade(points=None, read=read, reason=reason)
        gold_box, _ = _parse_stored_region(gold.answer[0])
        return Grade(points=iou(gold_box, boxes[0]), read=read, reason="")


@dataclass(frozen=True, slots=True)
class PointAnswer(_RegionAnswer):
    """A point inside a box, or within a distance of a point."""

    tolerance: Tolerance = EXACT

    @property
    def instruction(self) -> str:
        """Ask for a point in the convention in which it is read."""
        return self._instruction("point", "[x, y]")

    def gold(self, value: object, context: RowContext) -> Gold:
        """Read a point, which needs a tolerance, or the box that it has to be in."""
        try:
            region = read_gold_box(parse_list(value), self.coordinates.order)
        except SourceError as error:
            points = points_in(str(value)).coordinates
            if len(points) != 1:
                reason = f"answer {value!r:.60} (expected a point, or the one box around it)"
                raise SourceError(reason) from error
            (region,) = points
            if not (self.tolerance.absolute or self.tolerance.relative):
                reason = 'tolerance: a point needs one, such as "20" or "5%" of the diagonal'
                raise SettingsError(reason) from None
        return self._store(region, context)

    def grade(self, response: str, gold: Gold) -> Grade:
        """Give 1 if the only point is in the box, or near the point; a box counts as its centre."""
        boxes = self._read(response, boxes_in, gold)
        centres: list[Numbers] = [((a + c) / 2, (b + d) / 2) for a, b, c, d in boxes]
        points = centres or self._read(response, points_in, gold)
        if len(points) != 1:
            reason = f"{len(points) or 'no'} points (expected 1)"
            return Grade(points=None, read=(), reason=reason)
        ((x, y),) = points
        region, frame = _parse_stored_region(gold.answer[0])
        if len(region) == _SIDES:
            left, top, right, bottom = region
            is_right = left <= x <= right and top <= y <= bottom
        else:
            diagonal = hypot(*frame) if frame else 0
            tolerance = max(self.tolerance.absolute, self.tolerance.relative * diagonal)
            is_right = dist((x, y), region) <= tolerance * (1 + 1e-9)  # despite rounding errors
        return Grade(points=float(is_right), read=(f"{x:g},{y:g}",), reason="")


def iou(box_a: Sequence[float], box_b: Sequence[float]) -> float:
    """Intersection over union of two boxes, each left, top, right, bottom.

    >>> iou((0, 0, 2, 2), (1, 0, 3, 2))
    0.3333333333333333
    """
    (left_a, top_a, right_a, bottom_a), (left_b, top_b, right_b, bottom_b) = box_a, box_b
    width = min(right_a, right_b) - max(left_a, left_b)
    height = min(bottom_a, bottom_b) - max(top_a, top_b)
    if width <= 0 or height <= 0:
        return 0.0
    overlap = width * height
    area_a = (right_a - left_a) * (bottom_a - top_a)
    area_b = (right_b - left_b) * (bottom_b - top_b)
    return overlap / (area_a + area_b - overlap)


def _parse_stored_region(text: str) -> tuple[Numbers, Frame | None]:
    """Numbers of a gold's region, and their frame: "10,20 of 640x480"."""
    numbers, _, size = text.partition(" of ")
    width, _, height = size.partition("x")
    frame = (float(width), float(height)) if size else None
    return tuple(map(float, numbers.split(","))), frame
