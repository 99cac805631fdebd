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
    read_gold_boxes,
)
from bench_assets.core.schema.errors import SettingsError, SourceError
from bench_assets.core.schema.rows import AnswerKind

_FINAL = re.compile(r"\b(?:answer|result)\b", re.IGNORECASE)
_STORED = re.compile(r"(?P<numbers>[^ ]+)(?: of (?P<width>[\d.]+)x(?P<height>[\d.]+))?")
_FORMS = {"xywh": "[x, y, width, height]", "yxyx": "[y1, x1, y2, x2]"}


@dataclass(frozen=True, slots=True)
class _Places(AnswerType):
    """Places in an image, in the conventions of the file and of responses."""

    coordinates: Convention = PIXELS
    response_coordinates: Convention | None = None
    kind: AnswerKind = "text"

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
        if (configured := self.response_coordinates) is not None:
            return configured._replace(order="xyxy") if regions.are_corners else configured
        if regions.convention is not None:
            return regions.convention
        numbers = [n for region in regions.found for n in region]
        fractions = max(numbers) <= 1 and any(n % 1 for n in numbers)
        if fractions and frame is not None and max(frame) > 1:
            return Convention("xyxy", "0..1")
        return self._requested

    def _store(self, numbers: Numbers, context: RowContext) -> str:
        """Write a region in pixels if the image is known, else in the scale of the file."""
        width, height = context.image_size or (0, 0)
        size = (float(width), float(height)) if context.image_size else None
        frame = self.coordinates.frame(size)
        into = size or frame
        written = ",".join(f"{n:.10g}" for n in convert_coordinates(numbers, frame, into))
        return written if into is None else f"{written} of {into[0]:g}x{into[1]:g}"


@dataclass(frozen=True, slots=True)
class BoxAnswer(_Places):
    """One box, or several; points are the intersection over union (IoU)."""

    @property
    def instruction(self) -> str:
        """Ask for a box in the convention in which it is read."""
        return self._instruction(
            "bounding box", _FORMS.get(self._requested.order, "[x1, y1, x2, y2]")
        )

    def gold(self, value: object, context: RowContext) -> Gold:
        """Read the boxes; each is stored as its corners and their frame."""
        boxes = read_gold_boxes(parse_list(value), self.coordinates.order)
        return Gold(self.kind, tuple(self._store(box, context) for box in boxes))

    def grade(self, response: str, gold: Gold) -> Grade:
        """Give the IoU with the box; of several boxes, the mean IoU of the best matching."""
        golds = [_parse_stored_region(region) for region in gold.answer]
        regions = _final_regions(response, boxes_in, len(golds))
        if not regions.found:
            return Grade(None, (), "no box")
        frame = golds[0][1]
        convention = self._convention(regions, frame)
        boxes = [
            convert_coordinates(corners(corner, convention.order), convention.frame(frame), frame)
            for corner in regions.found
        ]
        read = tuple(",".join(f"{side:g}" for side in box) for box in boxes)
        if len(golds) == 1 and len(boxes) > 1:
            return Grade(None, read, f"{len(boxes)} boxes (expected 1)")
        return Grade(_best_matching_iou([box for box, _ in golds], boxes), read, "")


@dataclass(frozen=True, slots=True)
class PointAnswer(_Places):
    """A point inside a box, or within a distance of a point."""

    tolerance: Tolerance = EXACT

    @property
    def instruction(self) -> str:
        """Ask for a point in the convention in which it is read."""
        return self._instruction("point", "[x, y]")

    def gold(self, value: object, context: RowContext) -> Gold:
        """Read a point, or the box that it has to be in."""
        try:
            (region,) = read_gold_boxes(parse_list(value), self.coordinates.order)
        except (SourceError, ValueError) as error:
            if len(points := points_in(str(value)).found) != 1:
                reason = f"answer {value!r:.60} (expected a point, or the one box around it)"
                raise SourceError(reason) from error
            (region,) = points
            if not (self.tolerance.absolute or self.tolerance.relative):
                reason = 'tolerance: a point needs one, such as "20" or "5%" of the diagonal'
                raise SettingsError(reason) from None
        return Gold(self.kind, (self._store(region, context),))

    def grade(self, response: str, gold: Gold) -> Grade:
        """Give 1 for a point in the box, or near the point; a box counts by its centre."""
        region, frame = _parse_stored_region(gold.answer[0])
        regions = _final_regions(response, boxes_in, 1)
        if regions.found:
            order = self._convention(regions, frame).order
            centres = tuple(_centre(corners(box, order)) for box in regions.found)
            regions = regions._replace(found=centres)
        else:
            regions = _final_regions(response, points_in, 1)
        if len(regions.found) != 1:
            return Grade(None, (), f"{len(regions.found) or 'no'} points (expected 1)")
        own_frame = self._convention(regions, frame).frame(frame)
        x, y = convert_coordinates(regions.found[0], own_frame, frame)
        return Grade(float(self._is_within_tolerance((x, y), region, frame)), (f"{x:g},{y:g}",), "")

    def _is_within_tolerance(
        self, point: tuple[float, float], region: Numbers, frame: Frame | None
    ) -> bool:
        x, y = point
        if len(region) == 4:
            return region[0] <= x <= region[2] and region[1] <= y <= region[3]
        bound = self.tolerance.absolute
        if frame is not None:
            bound = max(bound, self.tolerance.relative * hypot(*frame))
        return hypot(x - region[0], y - region[1]) <= bound * (1 + 1e-9)


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


def _best_matching_iou(golds: Sequence[Numbers], boxes: Sequence[Numbers]) -> float:
    """Largest sum of IoUs over one-to-one pairs, divided by the larger number of boxes."""
    if len(golds) == len(boxes) == 1:
        return iou(golds[0], boxes[0])
    from scipy.optimize import linear_sum_assignment

    table = [[iou(gold, box) for box in boxes] for gold in golds]
    rows, columns = linear_sum_assignment(table, maximize=True)
    total = sum(table[row][column] for row, column in zip(rows, columns, strict=True))
    return float(total / max(len(golds), len(boxes)))


def _final_regions(response: str, read: Callable[[str], Regions], n: int) -> Regions:
    """Read the regions after the last "answer" or "result", else all; for n = 1, distinct ones."""
    *_, final = _FINAL.split(response)
    regions = read(final)
    if not regions.found:
        regions = read(response)
    distinct = tuple(dict.fromkeys(regions.found))
    return regions._replace(found=distinct if n == 1 else regions.found)


def _parse_stored_region(text: str) -> tuple[Numbers, Frame | None]:
    match = _STORED.fullmatch(text)
    assert match is not None, text
    numbers = tuple(map(float, match["numbers"].split(",")))
    return numbers, (float(match["width"]), float(match["height"])) if match["width"] else None


def _centre(box: Numbers) -> Numbers:
    left, top, right, bottom = box
    return (left + right) / 2, (top + bottom) / 2
