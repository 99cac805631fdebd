"""Tasks about two circled points of an image: relative depth and reflectance (section 3.2).

Raw data, one folder per task:

* Relative_Depth: Depth in the Wild, ``DIW_test.csv``, two lines an image: its path below the
  folder, and ``y_A,x_A,y_B,x_B,relation,width,height``; places in px from 1, relation ``>`` if A is
  farther away, ``<`` if it is closer;
* Relative_Reflectance: Intrinsic Images in the Wild, ``data/<id>.png`` and ``data/<id>.json`` with
  ``intrinsic_points`` (``id``, ``x`` and ``y`` as shares of width and height, ``opaque``) and
  ``intrinsic_comparisons`` (``point1``, ``point2``, ``darker``: "1", "2" or "E" for about the same;
  ``darker_score``: how sure the annotators are); null where the annotators gave no answer.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from math import dist
from pathlib import Path
from random import Random
from typing import NamedTuple

from bench_assets.core.images.drawing import Mark, Point
from bench_assets.core.images.orientation import ImageFrame, read_annotated_frame
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Rejection
from bench_assets.core.tables.build import Table, make_rejection
from bench_assets.core.tables.json_records import Entry, read_object, require_field
from bench_assets.suites.blink.builders.drafts import (
    MIN_DISTANCE,
    Candidates,
    Draft,
    DraftView,
    Marks,
    draw_circles,
    insert_at,
    make_candidates,
    wording,
)
from bench_assets.suites.blink.builders.raw_files import (
    files_in,
    image_file,
    read_image,
    read_located_lines,
    read_number,
    read_objects,
)

_OPTIONS = {
    "Relative_Depth": ("A is closer", "B is closer"),
    "Relative_Reflectance": ("A is darker", "B is darker", "About the same"),
}
_MIN_SCORE = 0.5  # ``darker_score`` of a comparison, at least; not given by the paper
_NO_POINTS = "no line of points follows"
_COMMAS = 4  # commas in a line of points, at least, even in a truncated one


class _ComparedPoints(NamedTuple):
    """Two points in px of the upright image, the darker one first unless they are alike."""

    first: Point
    second: Point
    alike: bool


class _LinePair(NamedTuple):
    name: str  # path of the image
    points: str


def relative_depth(source: Path, rng: Random) -> Candidates:
    """Ask one question about each image, in random order."""
    pairs = _line_pairs(read_located_lines(source / "DIW_test.csv"))
    yield from pairs.rejections
    yield from make_candidates(pairs.rows, rng, partial(_depth_draft, source))


def relative_reflectance(source: Path, rng: Random) -> Candidates:
    """Ask one question about each image, in random order."""
    files = [(file, str(file)) for file in files_in(source / "data", "*.json")]
    return make_candidates(files, rng, lambda file, _: _reflectance_draft(file, rng))


def _line_pairs(lines: Iterable[tuple[str, str]]) -> Table[tuple[_LinePair, str]]:
    """Pair each image's line with its line of points; reject a line without its partner."""
    pairs = Table[tuple[_LinePair, str]]()
    name, name_where = "", ""  # of an image whose line of points has not been read yet
    for line, where in lines:
        has_points = line.count(",") >= _COMMAS
        if has_points and name:
            pairs.rows.append((_LinePair(name, line), where))
        elif has_points:
            pairs.rejections.append(make_rejection(where, "no line of an image precedes"))
        elif name:
            pairs.rejections.append(make_rejection(name_where, _NO_POINTS))
        name, name_where = ("", "") if has_points else (line, where)
    if name:
        pairs.rejections.append(make_rejection(name_where, _NO_POINTS))
    return pairs


def _depth_draft(source: Path, lines: _LinePair, where: str) -> Draft | Rejection:
    """Circle the points of an image; points whose circles would meet are rejected."""
    match [cell.strip() for cell in lines.points.split(",")]:
        case [y_a, x_a, y_b, x_b, ("<" | ">") as relation, width, height]:
            try:
                a, b = (float(x_a) - 1, float(y_a) - 1), (float(x_b) - 1, float(y_b) - 1)
                stated_size = int(width), int(height)
            except ValueError as error:
                raise SourceError(f"{where}: {error}") from error
        case _:
            raise SourceError(
                f"{where}: expected y_A,x_A,y_B,x_B,< or >,width,height; found {lines.points!r:.80}"
            )
    image = image_file(source, lines.name, where)
    frame = read_annotated_frame(image, stated_size)
    a, b = frame.to_shown(a), frame.to_shown(b)
    _, shown_height = frame.shown
    distance = dist(a, b) / shown_height
    if not distance >= MIN_DISTANCE:  # also NaN
        reason = f"the points lie {distance:.3f} of the height apart: their circles would meet"
        return Rejection(entry=lines.name, reason=reason)
    closer, farther = (a, b) if relation == "<" else (b, a)
    return _circled_draft("Relative_Depth", lines.name, image, (closer, farther))


def _reflectance_draft(file: Path, rng: Random) -> Draft | Rejection:
    """Circle the points of one random clear comparison of an image, if it has any."""
    image = file.with_suffix(".png")
    comparisons = _clear_comparisons(file, read_annotated_frame(image))
    if not comparisons:
        reason = "no comparison of two opaque points that lie apart is sure enough"
        return Rejection(entry=file.name, reason=reason)
    comparison = rng.choice(comparisons)
    random_place = int(rng.random() < 0.5)  # always drawn: later draws must not depend on it
    points = (comparison.first, comparison.second)
    first_place = random_place if comparison.alike else None
    draft = _circled_draft("Relative_Reflectance", file.name, image, points, first_place)
    return replace(draft, marks=Marks(colour="white"))  # "to avoid color confusions" (A.1)


def _circled_draft(
    task: str, entry: str, image: Path, points: tuple[Point, Point], first_place: int | None = None
) -> Draft:
    """Draft a question about two circled points, in px of the upright image.

    The first point gets the letter of the right option. If the points are alike, the third option
    is right and ``first_place`` is the place of the first point.
    """
    options = _OPTIONS[task]
    first, second = points

    def show(place: int, marks: Marks) -> DraftView:
        a, b = insert_at(first, [second], place if first_place is None else first_place)
        circled = draw_circles(read_image(image), [Mark("A", a), Mark("B", b)], marks)
        return DraftView(wording=wording(task), images=(circled,), options=options)

    return Draft(
        entry=entry,
        originals=(image,),
        points={image: points},
        n_options=len(options),
        places=(0, 1) if first_place is None else (2,),
        show=show,
    )


def _clear_comparisons(file: Path, frame: ImageFrame) -> list[_ComparedPoints]:
    """Read the comparisons of opaque, distant points of which annotators are sure."""
    entry = read_object(file)
    _, shown_height = frame.shown
    points = {
        require_field(point, "id", int, where): point
        for point, where in read_objects(entry, "intrinsic_points", str(file))
    }
    clear = []
    for comparison, where in read_objects(entry, "intrinsic_comparisons", str(file)):
        first_entry = _find_point(points, comparison, "point1", where)
        second_entry = _find_point(points, comparison, "point2", where)
        are_opaque = first_entry.get("opaque") and second_entry.get("opaque")
        if not are_opaque or not _is_sure(comparison, where):
            continue
        first, second = (_shown_point(point, frame, where) for point in (first_entry, second_entry))
        if dist(first, second) >= MIN_DISTANCE * shown_height:
            darker = require_field(comparison, "darker", str, where)
            clear.append(_put_darker_first(darker, first, second, where))
    return clear


def _is_sure(comparison: Entry, where: str) -> bool:
    if comparison.get("darker") is None or comparison.get("darker_score") is None:
        return False
    return read_number(comparison, "darker_score", where) >= _MIN_SCORE


def _put_darker_first(darker: str, first: Point, second: Point, where: str) -> _ComparedPoints:
    match darker:
        case "1":
            return _ComparedPoints(first, second, alike=False)
        case "2":
            return _ComparedPoints(second, first, alike=False)
        case "E":
            return _ComparedPoints(first, second, alike=True)
    raise SourceError(f"{where}: field 'darker' is {darker!r}, expected '1', '2' or 'E'")


def _find_point(points: dict[int, Entry], comparison: Entry, field: str, where: str) -> Entry:
    """Return the point whose id is in a field of a comparison."""
    point_id = require_field(comparison, field, int, where)
    if point_id not in points:
        raise SourceError(f"{where}: unknown point {point_id}")
    point = points[point_id]
    if point.get("opaque") is not None:
        require_field(point, "opaque", bool, f"{where}, point {point_id}")
    return point


def _shown_point(point: Entry, frame: ImageFrame, where: str) -> Point:
    x, y = read_number(point, "x", where), read_number(point, "y", where)
    if not (0 <= x <= 1 and 0 <= y <= 1):
        raise SourceError(f"{where}: point ({x:g}, {y:g}) is not a share of width and height")
    return frame.to_shown((x * frame.width, y * frame.height))
