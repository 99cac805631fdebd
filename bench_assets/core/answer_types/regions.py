"""Boxes and points in golds and responses, in every common notation.

Boxes are (left, top, right, bottom) in a frame: the image in pixels, the unit square, or a grid of
0..1000. The frame of a response follows from its notation if possible: location tokens of Qwen-VL,
InternVL, CogVLM and DeepSeek-VL2 are in 0..1000, those of PaliGemma in 0..1024 with the top first,
Gemini's ``box_2d`` is 0..1000 with the top first, Molmo's points are in percent.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from bench_assets.core.schema.errors import SettingsError, SourceError

Numbers: TypeAlias = tuple[float, ...]
Frame: TypeAlias = tuple[float, float]  # width and height that coordinates refer to

FRAMES: Mapping[str, float] = {"0..1": 1.0, "0..1000": 1000.0, "0..100": 100.0}
_ORDERS = ("xyxy", "xywh", "yxyx")
_NUMBER = r"(?<![\d.])-?\d{1,9}(?:\.\d{1,20})?%?"
# Blanks are bounded, so that a response of nothing else takes linear time.
_SEP = r"(?:\s{0,9}[,;]\s{0,9}|\s{1,9})"
_FOUR = re.compile(
    rf"({_NUMBER}){_SEP}({_NUMBER})\s{{0,9}}[\])]?\s{{0,9}}[,;]?\s{{0,9}}[\[(]?\s{{0,9}}"
    rf"({_NUMBER}){_SEP}({_NUMBER})"
)
_CORNER_WORDS = re.compile(  # "from (10, 20) at the top left to (30, 40)"
    rf"[(\[]\s{{0,9}}({_NUMBER}){_SEP}({_NUMBER})\s{{0,9}}[)\]]"
    rf"(?:(?!\bor\b)[^\d\[\](){{}}\n]){{0,60}}"
    rf"[(\[]\s{{0,9}}({_NUMBER}){_SEP}({_NUMBER})\s{{0,9}}[)\]]"
)
_NAMED = re.compile(
    rf"['\"]?\b([a-z_]\w{{0,20}})['\"]?\s{{0,9}}[:=]\s{{0,9}}['\"]?({_NUMBER})", re.IGNORECASE
)
_BRACKETED_PAIR = re.compile(rf"[\[(<]\s{{0,9}}({_NUMBER}){_SEP}({_NUMBER})\s{{0,9}}[\])>]")
_BARE_PAIR = re.compile(rf"({_NUMBER})\s{{0,9}},\s{{0,9}}({_NUMBER})")
_LOC = re.compile(r"(?:<loc_?\d{1,4}>)+")
_LOC_NUMBER = re.compile(r"<loc(_?)(\d{1,4})>")
_TOKENS = re.compile(
    r"<\|?/?(?:box|ref|det|quad|object_ref|bbox)\w*\|?>"
    r"|\[\[(?=[^\]]{0,80}\b0\d\d\b)(?:\d{3}[,;\s\[\]]{0,9}){4,40}\]"  # CogVLM: [[012,345,678,999]]
)
_MOLMO = re.compile(r"<points?\b[^<>]*>")
_MOLMO_PAIR = re.compile(r"\bx(\d*)\s*=\s*\"([\d.]+)\"\s*y\1\s*=\s*\"([\d.]+)\"")
_TOP_FIRST = re.compile(r"['\"]box_2d['\"]|\[\s*y_?min|\bymin,\s*xmin", re.IGNORECASE)
_LIST_NUMBER = re.compile(r"^[ \t]{0,20}\d{1,2}[.):][ \t]+", re.MULTILINE)
_AXES = ("x", "y")
_CORNERS = (
    ("x1", "y1", "x2", "y2"),
    ("xmin", "ymin", "xmax", "ymax"),
    ("x_min", "y_min", "x_max", "y_max"),
    ("left", "top", "right", "bottom"),
)
_SIZES = (
    ("x", "y", "w", "h"),
    ("x", "y", "width", "height"),
    ("left", "top", "width", "height"),
)
_BOX_KEYS = ("bbox_2d", "bbox", "box_2d", "box", "bounding_box", "boundingbox")


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
        found = cls()
        for word in text.split():
            if word in _ORDERS:
                found = found._replace(order=word)
            elif word == "pixels" or word in FRAMES:
                found = found._replace(scale=word)
            else:
                known = ", ".join((*_ORDERS, "pixels", *FRAMES))
                raise SettingsError(f"coordinates {text!r:.60}: {word!r} (expected one of {known})")
        return found

    def frame(self, size: Frame | None) -> Frame | None:
        """Width and height that coordinates refer to; None for pixels if ``size`` is unknown."""
        return size if self.scale == "pixels" else (FRAMES[self.scale],) * 2


PIXELS = Convention()


class Regions(NamedTuple):
    """Boxes or points as a response writes them, and its convention if the notation shows it."""

    found: tuple[Numbers, ...]
    convention: Convention | None = None
    are_corners: bool = False  # boxes with named sides, whatever the order of others


def corners(numbers: Sequence[float], order: str) -> Numbers:
    """Box as left, top, right, bottom; corners in either order.

    >>> corners((10, 8, 34, 38), "xywh")
    (10, 8, 44, 46)
    """
    a, b, c, d = numbers
    if order == "xywh":
        return a, b, a + c, b + d
    if order == "yxyx":
        a, b, c, d = b, a, d, c
    return min(a, c), min(b, d), max(a, c), max(b, d)


def convert_coordinates(
    numbers: Sequence[float], frame: Frame | None, into: Frame | None
) -> Numbers:
    """Convert coordinates from one frame to another; unchanged if either is unknown.

    >>> convert_coordinates((250, 500), (1000, 1000), (640, 480))
    (160.0, 240.0)
    """
    if frame is None or into is None or frame == into:
        return tuple(numbers)
    return tuple(n * into[k % 2] / frame[k % 2] for k, n in enumerate(numbers))


def read_gold_boxes(value: object, order: str) -> list[Numbers]:
    """Read the boxes of a gold: four numbers, an object with named sides, or a list of these.

    Raises:
        SourceError: If it is something else, or a box has no area.
    """
    match value:
        case Mapping():
            return [_require_area(_from_object(value, order))]
        case list() | tuple() if len(value) == 4 and all(map(_is_number, value)):
            return [_require_area(corners([float(n) for n in value], order))]
        case list() | tuple() if value:
            return [box for one in value for box in read_gold_boxes(one, order)]
        case str() if (found := boxes_in(value)).found:
            order = "xyxy" if found.are_corners else order
            return [_require_area(corners(one, order)) for one in found.found]
    raise SourceError(f"answer {value!r:.60} (expected a box: four numbers, or a list of boxes)")


def boxes_in(text: str) -> Regions:
    """Find the boxes of a response, in order.

    >>> boxes_in("It is at <box>(100, 200), (300, 400)</box>.").convention
    Convention(order='xyxy', scale='0..1000')
    """
    if tokens := _location_tokens(text):
        return tokens
    if named := _named_boxes(text):
        return named
    top_first = _TOP_FIRST.search(text) is not None
    convention = None
    if top_first:
        convention = Convention("yxyx", "0..1000")
    elif _TOKENS.search(text):
        convention = Convention("xyxy", "0..1000")
    text = _LIST_NUMBER.sub("", text)
    found = [one.groups() for one in _FOUR.finditer(text)]
    found = found or [one.groups() for one in _CORNER_WORDS.finditer(text)]
    boxes = [tuple(map(_value, numbers)) for numbers in found]
    if found and all("%" in numbers[0] for numbers in found):
        convention = Convention("xyxy", "0..100")
    return Regions(tuple(boxes), convention if boxes else None)


def points_in(text: str) -> Regions:
    """Find the points of a response, in order.

    >>> points_in('<point x="61.5" y="40.2" alt="cup">cup</point>')[:2]
    (((61.5, 40.2),), Convention(order='xyxy', scale='0..100'))
    """
    if molmo := [pair for tag in _MOLMO.findall(text) for pair in _MOLMO_PAIR.findall(tag)]:
        points = tuple((float(x), float(y)) for _, x, y in molmo)
        return Regions(points, Convention("xyxy", "0..100"))
    scale = Convention("xyxy", "0..1000") if _TOKENS.search(text) else None
    named = [(name.casefold(), number) for name, number in _NAMED.findall(text)]
    names = [name for name, _ in named if name in _AXES]
    sides = [number for name, number in named if name in _AXES]
    if sides and names == [*_AXES] * (len(sides) // 2):
        pairs, scale = list(zip(sides[::2], sides[1::2], strict=True)), None
    else:
        pairs = _BRACKETED_PAIR.findall(text) or _BARE_PAIR.findall(text)
    if pairs and all("%" in x for x, _ in pairs):
        scale = Convention("xyxy", "0..100")
    return Regions(tuple((_value(x), _value(y)) for x, y in pairs), scale)


def _location_tokens(text: str) -> Regions | None:
    """Boxes of PaliGemma (top first, 0..1023) and Florence-2 (left first, 0..999)."""
    runs = [_LOC_NUMBER.findall(run) for run in _LOC.findall(text)]
    fours = [run[k : k + 4] for run in runs for k in range(0, len(run) - 3, 4)]
    if not fours:
        return None
    if fours[0][0][0]:
        boxes = tuple(tuple(float(n) for _, n in four) for four in fours)
        return Regions(boxes, Convention("xyxy", "0..1000"))
    in_1000 = tuple(tuple(float(n) * 1000 / 1024 for _, n in four) for four in fours)
    return Regions(in_1000, Convention("yxyx", "0..1000"))


def _named_boxes(text: str) -> Regions | None:
    """Boxes whose sides are named: {"x1": 10, ...}, x=10, y=20, width=30, height=40."""
    named = [(name.casefold(), number) for name, number in _NAMED.findall(text)]
    for sides, order in (
        *((sides, "xyxy") for sides in _CORNERS),
        *((sides, "xywh") for sides in _SIZES),
    ):
        kept = [(name, number) for name, number in named if name in sides]
        if len(kept) < 4 or len(kept) % 4:
            continue
        fours = [dict(kept[k : k + 4]) for k in range(0, len(kept), 4)]
        if all(set(four) == set(sides) for four in fours):
            boxes = (corners([_value(four[side]) for side in sides], order) for four in fours)
            in_percent = all("%" in number for _, number in kept)
            scale = Convention("xyxy", "0..100") if in_percent else None
            return Regions(tuple(boxes), scale, are_corners=True)
    return None


def _from_object(value: Mapping[object, object], order: str) -> Numbers:
    keys = {str(name).casefold(): one for name, one in value.items()}
    for name in _BOX_KEYS:
        if isinstance(keys.get(name), list | tuple):
            return read_gold_boxes(keys[name], order)[0]
    for sides, own in (*((s, "xyxy") for s in _CORNERS), *((s, "xywh") for s in _SIZES)):
        if all(_is_number(keys.get(side)) for side in sides):
            return corners([float(str(keys[side])) for side in sides], own)
    raise SourceError(f"answer {value!r:.60} (expected sides such as x1, y1, x2, y2)")


def _require_area(box: Numbers) -> Numbers:
    if box[2] <= box[0] or box[3] <= box[1]:
        raise SourceError(f"box {json.dumps(list(box))} has no area: check coordinates")
    return box


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _value(text: str) -> float:
    return float(text.rstrip("%"))
