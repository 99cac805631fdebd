"""Boxes and points in golds and responses, as files and model families write them.

Boxes are (left, top, right, bottom) in a frame: the image in pixels, the unit square, or a grid
such as 0..1000. The frame of a response follows from its notation if possible (``regions.toml``).
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from bench_assets.core.schema.errors import SettingsError, SourceError

Numbers: TypeAlias = tuple[float, ...]
Frame: TypeAlias = tuple[float, float]  # width and height that coordinates refer to

FRAMES = {"0..1": 1.0, "0..1000": 1000.0, "0..100": 100.0, "0..1024": 1024.0}
_ORDERS = ("xyxy", "xywh", "yxyx")
_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_NAMED_SIDES = [(s.split(), order) for order, names in _TABLES["sides"].items() for s in names]
# Blanks are bounded, so that a response of nothing else takes linear time.
_NUMBER = r"(?<![\w.])-?\d{1,9}(?:\.\d{1,20})?"
_NAME = r"(?:\b([A-Za-z_]\w{0,9})['\"]?\s{0,9}[:=]\s{0,9}['\"]?)?"
_SEP = r"['\"]?(?:\s{0,9}[,;]\s{0,9}|\s{1,9})['\"]?"
_PAIRS = r"['\"]?(?:(?!\bor\b)[^\d{}\n]){0,60}?"  # between the pairs: "), (", " to ", ", \"w\": "
_BOX = re.compile(_PAIRS.join([f"{_NAME}({_NUMBER}){_SEP}{_NAME}({_NUMBER})"] * 2))
_AXIS = r"\b{}\d*['\"]?\s{{0,9}}[:=]\s{{0,9}}['\"]?"
_POINT_FORMS = (  # named, in brackets, bare
    re.compile(f"{_AXIS.format('x')}({_NUMBER}){_SEP}{_AXIS.format('y')}({_NUMBER})"),
    re.compile(rf"[\[(<]\s{{0,9}}({_NUMBER}){_SEP}({_NUMBER})\s{{0,9}}[\])>]"),
    re.compile(rf"({_NUMBER})\s{{0,9}},\s{{0,9}}({_NUMBER})"),
)
_LOCATION = re.compile(r"<loc_?(\d{1,4})>")


class Convention(NamedTuple):
    """Order of a box's numbers, and their scale: "pixels" of the image, or a key of ``FRAMES``."""

    order: str = "xyxy"
    scale: str = "pixels"

    @classmethod
    def of(cls, text: str) -> "Convention":
        """Parse a setting such as ``"xywh pixels"`` or ``"0..1000"``.

        Raises:
            SettingsError: If a word is neither an order nor a scale.
        """
        allowed = (*_ORDERS, "pixels", *FRAMES)
        if unknown := [word for word in text.split() if word not in allowed]:
            expected = f"expected one of {', '.join(allowed)}"
            raise SettingsError(f"coordinates {text!r:.60}: {unknown[0]!r} ({expected})")
        fields = {"order" if word in _ORDERS else "scale": word for word in text.split()}
        return cls(**fields)

    def frame(self, size: Frame | None) -> Frame | None:
        """Width and height that coordinates refer to; None for pixels if ``size`` is unknown."""
        return size if self.scale == "pixels" else (FRAMES[self.scale],) * 2


PIXELS = Convention()


class Regions(NamedTuple):
    """Boxes or points as a response writes them, and its convention if the notation shows it."""

    coordinates: tuple[Numbers, ...]  # of each region
    convention: Convention | None = None
    are_corners: bool = False  # left, top, right, bottom: the boxes had named sides


def to_corners(numbers: Sequence[float], order: str) -> Numbers:
    """Box as left, top, right, bottom; corners in either order.

    >>> to_corners((10, 8, 34, 38), "xywh")
    (10, 8, 44, 46)
    """
    a, b, c, d = numbers
    if order == "xywh":
        return a, b, a + c, b + d
    if order == "yxyx":
        a, b, c, d = b, a, d, c
    return min(a, c), min(b, d), max(a, c), max(b, d)


def convert_coordinates(
    numbers: Sequence[float], source: Frame | None, target: Frame | None
) -> Numbers:
    """Convert coordinates from one frame to another; unchanged if either is unknown.

    >>> convert_coordinates((250, 500), (1000, 1000), (640, 480))
    (160.0, 240.0)
    """
    if source is None or target is None or source == target:
        return tuple(numbers)
    return tuple(n * target[k % 2] / source[k % 2] for k, n in enumerate(numbers))  # x, y, ...


def read_gold_box(value: object, order: str) -> Numbers:
    """Read the box of a gold: four numbers, or an object with named sides.

    Raises:
        SourceError: If it is something else, or has no area.
    """
    sides = value.items() if isinstance(value, Mapping) else ()
    regions = boxes_in(", ".join(f"{name}: {side}" for name, side in sides) or str(value))
    if len(regions.coordinates) != 1:
        raise SourceError(f"answer {value!r:.60} (expected a box: four numbers, or named sides)")
    box = to_corners(regions.coordinates[0], "xyxy" if regions.are_corners else order)
    left, top, right, bottom = box
    if right <= left or bottom <= top:
        raise SourceError(f"box {[*box]} has no area: check coordinates")
    return box


def boxes_in(text: str) -> Regions:
    """Find the boxes of a text, in order; only those with named sides if there are any.

    >>> boxes_in("It is at <box>(100, 200), (300, 400)</box>.").convention
    Convention(order='xyxy', scale='0..1000')
    """
    boxes, named_boxes = list[Numbers](), list[Numbers]()
    locations = " ".join(_LOCATION.findall(text))
    for match in _BOX.finditer(locations or text):
        names, numbers = match.groups()[::2], match.groups()[1::2]  # in turn
        box = tuple(map(float, numbers))
        boxes.append(box)
        by_name = {str(name).casefold(): side for name, side in zip(names, box, strict=True)}
        for sides, order in _NAMED_SIDES:
            if by_name.keys() == {*sides}:
                named_boxes.append(to_corners([by_name[side] for side in sides], order))
    convention = _notation(text) if boxes and not named_boxes else None
    return Regions(tuple(named_boxes or boxes), convention, are_corners=bool(named_boxes))


def points_in(text: str) -> Regions:
    """Find the points of a text, in order: those with named axes, else in brackets, else bare.

    >>> points_in('<point x="61.5" y="40.2" alt="cup">cup</point>')[:2]
    (((61.5, 40.2),), Convention(order='xyxy', scale='0..100'))
    """
    pairs = next(filter(None, (form.findall(text) for form in _POINT_FORMS)), [])
    return Regions(tuple((float(x), float(y)) for x, y in pairs), _notation(text))


def _notation(text: str) -> Convention | None:
    """Convention of the first notation that a text has."""
    for notation in _TABLES["notations"]:
        if re.search(notation["pattern"], text):
            return Convention.of(notation["convention"])
    return None
