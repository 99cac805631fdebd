"""Four circled points on a second image, one of which answers a circled point on the first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import dist
from pathlib import Path
from random import Random

from PIL.Image import Image

from bench_assets.core.images.drawing import Mark, Point, jpeg, to_height, with_circles
from bench_assets.suites.blink.dataset.draft import (
    POINTS,
    Draft,
    DraftView,
    Marks,
    QuestionWording,
    anywhere,
    placed,
)
from bench_assets.suites.blink.raw_formats.image_folders import read_image


@dataclass(frozen=True, slots=True, kw_only=True)
class Correspondence:
    """A reference point, the point that corresponds to it, and three that do not; px."""

    first: Path
    second: Path
    reference: Point
    match: Point
    others: tuple[Point, Point, Point]


def draft(pair: Correspondence, entry: str, asked: Callable[[Marks], QuestionWording]) -> Draft:
    """Ask which of four points corresponds to the reference point."""

    def show(place: int, marks: Marks) -> DraftView:
        first, second = read_image(pair.first), read_image(pair.second)
        options = placed(pair.match, pair.others, place)
        circled = [Mark(letter, point) for letter, point in zip("ABCD", options, strict=True)]
        return DraftView(
            asked=asked(marks),
            images=(
                circles_on(first, [Mark("REF", pair.reference)], marks),
                circles_on(second, circled, marks),
            ),
            options=POINTS,
        )

    return Draft(
        entry=entry,
        originals=(pair.first, pair.second),
        points={pair.first: (pair.reference,), pair.second: (pair.match, *pair.others)},
        n_options=4,
        places=anywhere(4),
        show=show,
    )


def circles_on(image: Image, points: Sequence[Mark], marks: Marks) -> bytes:
    """Scale an image, circle points given in its own px, and encode it."""
    scale = marks.height / image.height
    scaled = [Mark(label, (x * scale, y * scale)) for label, (x, y) in points]
    drawn = with_circles(
        to_height(image, marks.height), scaled, radius=marks.radius, colour=marks.colour
    )
    return jpeg(drawn)


def three_apart(
    match: Point, others: Sequence[Point], min_distance: float, rng: Random
) -> tuple[Point, Point, Point] | None:
    """Draw three points that lie apart from the match and from each other, or None.

    Args:
        match: px.
        others: Points to draw from; px.
        min_distance: px between any two of the four.
        rng: Draws the order in which points are tried.
    """
    chosen: list[Point] = []
    for point in rng.sample(list(others), len(others)):
        if all(dist(point, kept) >= min_distance for kept in (match, *chosen)):
            chosen.append(point)
        if len(chosen) == 3:
            return chosen[0], chosen[1], chosen[2]
    return None
