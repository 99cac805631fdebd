"""Relative reflectance: which of two points has the darker surface (section 3.2).

Raw data: Intrinsic Images in the Wild, ``data/<id>.json`` with ``intrinsic_points`` (``id``, ``x``
and ``y`` as shares of width and height, ``opaque``) and ``intrinsic_comparisons`` (``point1``,
``point2``, ``darker``: "1", "2" or "E" for about the same; ``darker_score``: how sure the
annotators are), where null is for what they did not say, and ``data/<id>.png``.
"""

from dataclasses import dataclass
from math import dist
from pathlib import Path
from random import Random
from typing import NamedTuple

from bench_assets.core.images.drawing import Mark, Point
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Rejection
from bench_assets.core.tables.json_records import Entry, field
from bench_assets.suites.blink.dataset.draft import (
    Candidates,
    Draft,
    DraftView,
    Marks,
    placed,
    wording,
)
from bench_assets.suites.blink.raw_formats.image_folders import (
    files_in,
    number,
    read_image,
    read_object,
)
from bench_assets.suites.blink.raw_formats.point_pairs import circles_on

OPTIONS = ("A is darker", "B is darker", "About the same")


@dataclass(frozen=True, slots=True, kw_only=True)
class RelativeReflectanceParameters:
    """Which judgements are clear enough; the paper gives none of these."""

    min_score: float = 0.5
    """Least ``darker_score`` of a comparison."""
    min_distance: float = 0.06
    """Between the two points, whose places are shares of width and height."""


class _JudgedPair(NamedTuple):
    darker: Point  # shares of width and height; of two alike, the one named first
    other: Point
    alike: bool


def build(
    source: Path,
    rng: Random,
    parameters: RelativeReflectanceParameters = RelativeReflectanceParameters(),
) -> Candidates:
    """Ask one question about each image, in drawn order.

    Raises:
        SourceError: If there are no annotations, or one is not of the form above; names it.
    """
    files = files_in(source / "data", "*.json")
    for file in rng.sample(files, len(files)):
        clear = _clear(file, parameters)
        if clear:
            yield _draft(file, rng.choice(clear), rng)
        else:
            yield Rejection(
                entry=file.name,
                reason="no comparison of two opaque points that lie apart is sure enough",
            )


def _draft(file: Path, judged: _JudgedPair, rng: Random) -> Draft:
    image_file = file.with_suffix(".png")
    swapped = rng.random() < 0.5

    def show(place: int, marks: Marks) -> DraftView:
        image = read_image(image_file)
        at = [(x * image.width, y * image.height) for x, y in (judged.darker, judged.other)]
        a, b = placed(at[0], at[1:], int(swapped) if judged.alike else place)
        circled = circles_on(image, [Mark("A", a), Mark("B", b)], marks)
        return DraftView(asked=wording("Relative_Reflectance"), images=(circled,), options=OPTIONS)

    return Draft(
        entry=file.name,
        originals=(image_file,),
        n_options=3,
        places=(2,) if judged.alike else (0, 1),
        show=show,
        marks=Marks(colour="white"),  # "to avoid color confusions" (appendix A.1)
    )


def _clear(file: Path, parameters: RelativeReflectanceParameters) -> list[_JudgedPair]:
    entry = read_object(file)
    points = {
        field(point, "id", int, str(file)): point
        for point in field(entry, "intrinsic_points", list, str(file))
    }
    judged = []
    for nth, comparison in enumerate(field(entry, "intrinsic_comparisons", list, str(file)), 1):
        where = f"{file}, comparison {nth}"
        ends = [_point(points, comparison, end, where) for end in ("point1", "point2")]
        if comparison.get("darker") is None or not all(end.get("opaque") for end in ends):
            continue
        if comparison.get("darker_score") is None:
            continue
        if number(comparison, "darker_score", where) < parameters.min_score:
            continue
        first, second = (_place(end, where) for end in ends)
        if dist(first, second) < parameters.min_distance:
            continue
        judged.append(_read(field(comparison, "darker", str, where), first, second, where))
    return judged


def _read(darker: str, first: Point, second: Point, where: str) -> _JudgedPair:
    match darker:
        case "1":
            return _JudgedPair(first, second, alike=False)
        case "2":
            return _JudgedPair(second, first, alike=False)
        case "E":
            return _JudgedPair(first, second, alike=True)
    raise SourceError(f"{where}: field 'darker' is {darker!r}, expected '1', '2' or 'E'")


def _point(points: dict[int, Entry], comparison: Entry, end: str, where: str) -> Entry:
    name = field(comparison, end, int, where)
    if name not in points:
        raise SourceError(f"{where}: there is no point {name}")
    if points[name].get("opaque") is not None:
        field(points[name], "opaque", bool, f"{where}, point {name}")
    return points[name]


def _place(point: Entry, where: str) -> Point:
    x, y = number(point, "x", where), number(point, "y", where)
    if not (0 <= x <= 1 and 0 <= y <= 1):
        raise SourceError(f"{where}: point ({x:g}, {y:g}) is no share of width and height")
    return x, y
