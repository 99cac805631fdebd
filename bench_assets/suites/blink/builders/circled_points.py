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
from math import dist
from pathlib import Path
from random import Random
from typing import NamedTuple

from bench_assets.core.images.drawing import Mark, Point
from bench_assets.core.images.orientation import read_annotated_frame
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
    read_lines_with_place,
    read_number,
    read_objects,
)

SHADES = ("A is darker", "B is darker", "About the same")
_OPTIONS = {"Relative_Depth": ("A is closer", "B is closer"), "Relative_Reflectance": SHADES}
_MIN_SCORE = 0.5  # least ``darker_score`` of a comparison; not given by the paper
_COMMAS = 4  # least number of commas in a line of points, even in a truncated one


class _ComparedPoints(NamedTuple):
    darker: Point  # shares of width and height; of two alike, the one named first
    other: Point
    alike: bool


def relative_depth(source: Path, rng: Random) -> Candidates:
    """Ask one question about each image, in random order.

    Raises:
        SourceError: If the list cannot be read.
    """
    pairs = _line_pairs(read_lines_with_place(source / "DIW_test.csv"))
    yield from pairs.rejections
    yield from make_candidates(pairs.rows, rng, lambda pair, where: _depth(source, *pair, where))


def relative_reflectance(source: Path, rng: Random) -> Candidates:
    """Ask one question about each image, in random order.

    Raises:
        SourceError: If there are no annotations.
    """
    files = [(file, str(file)) for file in files_in(source / "data", "*.json")]
    return make_candidates(files, rng, lambda file, _: _reflectance(file, rng))


def _line_pairs(lines: Iterable[tuple[str, str]]) -> Table[tuple[tuple[str, str], str]]:
    """Pair each image's line with its line of points; reject a line without its partner."""
    pairs = Table[tuple[tuple[str, str], str]]()
    image: tuple[str, str] | None = None
    for line, where in lines:
        is_name = line.count(",") < _COMMAS
        if is_name is (image is not None):
            pairs.rejections.append(
                make_rejection(where, "a line of an image or of its points is missing")
            )
        if is_name:
            image = line, where
        elif image:
            pairs.rows.append(((image[0], line), where))
            image = None
    if image:
        pairs.rejections.append(make_rejection(image[1], "no line of points follows"))
    return pairs


def _depth(source: Path, name: str, line: str, where: str) -> Draft | Rejection:
    match [cell.strip() for cell in line.split(",")]:
        case [y_a, x_a, y_b, x_b, ("<" | ">") as relation, width, height]:
            try:
                a, b = (float(x_a) - 1, float(y_a) - 1), (float(x_b) - 1, float(y_b) - 1)
                stated = int(width), int(height)
            except ValueError as error:
                raise SourceError(f"{where}: {error}") from error
        case _:
            raise SourceError(
                f"{where}: expected y_A,x_A,y_B,x_B,< or >,width,height; found {line!r:.80}"
            )
    image = image_file(source, name, where)
    frame = read_annotated_frame(image, stated)
    a, b = frame.to_shown(a), frame.to_shown(b)
    if not (distance := dist(a, b) / frame.shown[1]) >= MIN_DISTANCE:
        reason = f"the points lie {distance:.3f} of the height apart: their circles would meet"
        return Rejection(entry=name, reason=reason)
    closer, farther = (a, b) if relation == "<" else (b, a)
    return _circled_draft("Relative_Depth", name, image, (closer, farther))


def _reflectance(file: Path, rng: Random) -> Draft | Rejection:
    clear = _clear_comparisons(file)
    if not clear:
        reason = "no comparison of two opaque points that lie apart is sure enough"
        return Rejection(entry=file.name, reason=reason)
    judged, swapped = rng.choice(clear), rng.random() < 0.5
    image = file.with_suffix(".png")
    frame = read_annotated_frame(image)
    shares = (judged.darker, judged.other)
    darker, lighter = (frame.to_shown((x * frame.width, y * frame.height)) for x, y in shares)
    settled = int(swapped) if judged.alike else None
    draft = _circled_draft("Relative_Reflectance", file.name, image, (darker, lighter), settled)
    return replace(draft, marks=Marks(colour="white"))  # "to avoid color confusions" (A.1)


def _circled_draft(
    task: str, entry: str, image: Path, points: tuple[Point, Point], settled: int | None = None
) -> Draft:
    """Draft a question about two circled points, in px of the upright image.

    The first point gets the letter of the right option. If the points are alike, the third option
    is right and ``settled`` is the place of the first point.
    """
    options = _OPTIONS[task]

    def show(place: int, marks: Marks) -> DraftView:
        a, b = insert_at(points[0], points[1:], place if settled is None else settled)
        circled = draw_circles(read_image(image), [Mark("A", a), Mark("B", b)], marks)
        return DraftView(asked=wording(task), images=(circled,), options=options)

    return Draft(
        entry=entry,
        originals=(image,),
        points={image: points},
        n_options=len(options),
        places=(0, 1) if settled is None else (2,),
        show=show,
    )


def _clear_comparisons(file: Path) -> list[_ComparedPoints]:
    entry = read_object(file)
    points = {
        require_field(point, "id", int, where): point
        for point, where in read_objects(entry, "intrinsic_points", str(file))
    }
    judged = []
    for comparison, where in read_objects(entry, "intrinsic_comparisons", str(file)):
        ends = [_point(points, comparison, end, where) for end in ("point1", "point2")]
        unsaid = None in (comparison.get("darker"), comparison.get("darker_score"))
        if unsaid or not all(end.get("opaque") for end in ends):
            continue
        if read_number(comparison, "darker_score", where) < _MIN_SCORE:
            continue
        first, second = (_relative_point(end, where) for end in ends)
        if dist(first, second) >= MIN_DISTANCE:
            judged.append(
                _compared(require_field(comparison, "darker", str, where), first, second, where)
            )
    return judged


def _compared(darker: str, first: Point, second: Point, where: str) -> _ComparedPoints:
    match darker:
        case "1":
            return _ComparedPoints(first, second, alike=False)
        case "2":
            return _ComparedPoints(second, first, alike=False)
        case "E":
            return _ComparedPoints(first, second, alike=True)
    raise SourceError(f"{where}: field 'darker' is {darker!r}, expected '1', '2' or 'E'")


def _point(points: dict[int, Entry], comparison: Entry, end: str, where: str) -> Entry:
    name = require_field(comparison, end, int, where)
    if name not in points:
        raise SourceError(f"{where}: unknown point {name}")
    if points[name].get("opaque") is not None:
        require_field(points[name], "opaque", bool, f"{where}, point {name}")
    return points[name]


def _relative_point(point: Entry, where: str) -> Point:
    x, y = read_number(point, "x", where), read_number(point, "y", where)
    if not (0 <= x <= 1 and 0 <= y <= 1):
        raise SourceError(f"{where}: point ({x:g}, {y:g}) is not a share of width and height")
    return x, y
