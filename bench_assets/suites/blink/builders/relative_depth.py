"""Relative depth: which of two points is closer to the camera (section 3.2).

Raw data: Depth in the Wild, ``DIW_test.csv``, two lines an image: its path below the folder, and
``y_A,x_A,y_B,x_B,relation,width,height``; places in px from 1; relation ``>`` if A is farther
away, ``<`` if it is closer.
"""

from dataclasses import dataclass
from math import dist
from pathlib import Path
from random import Random
from typing import NamedTuple

from bench_assets.core.images.drawing import Mark, Point
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Rejection
from bench_assets.suites.blink.dataset.draft import (
    Candidates,
    Draft,
    DraftView,
    Marks,
    anywhere,
    placed,
    wording,
)
from bench_assets.suites.blink.raw_formats.image_folders import image_file, lines_of, read_image
from bench_assets.suites.blink.raw_formats.point_pairs import circles_on


@dataclass(frozen=True, slots=True, kw_only=True)
class RelativeDepthParameters:
    """Which pairs of points can be told apart; not given by the paper."""

    min_distance: float = 0.06
    """Between the two points, as a share of the image's height."""


class _Pair(NamedTuple):
    entry: str
    image: Path
    closer: Point  # px from 0
    farther: Point
    height: float  # px


def build(
    source: Path, rng: Random, parameters: RelativeDepthParameters = RelativeDepthParameters()
) -> Candidates:
    """Ask one question about each image, in drawn order.

    Raises:
        SourceError: If the list is missing or a line is not of the form above; names it.
    """
    pairs = _pairs(source)
    for pair in rng.sample(pairs, len(pairs)):
        apart = dist(pair.closer, pair.farther) / pair.height
        if apart >= parameters.min_distance:
            yield _draft(pair)
        else:
            reason = f"the points lie {apart:.3f} of the height apart: their circles would meet"
            yield Rejection(entry=pair.entry, reason=reason)


def _draft(pair: _Pair) -> Draft:
    def show(place: int, marks: Marks) -> DraftView:
        a, b = placed(pair.closer, [pair.farther], place)
        image = circles_on(read_image(pair.image), [Mark("A", a), Mark("B", b)], marks)
        return DraftView(
            asked=wording("Relative_Depth"),
            images=(image,),
            options=("A is closer", "B is closer"),
        )

    return Draft(
        entry=pair.entry,
        originals=(pair.image,),
        points={pair.image: (pair.closer, pair.farther)},
        n_options=2,
        places=anywhere(2),
        show=show,
    )


def _pairs(source: Path) -> list[_Pair]:
    file = source / "DIW_test.csv"
    lines = list(lines_of(file))
    if len(lines) % 2:
        raise SourceError(f"{file}: expected two lines an image, found {len(lines)} lines")
    return [
        _pair(source, name, numbers, where)
        for (name, _), (numbers, where) in zip(lines[::2], lines[1::2], strict=True)
    ]


def _pair(source: Path, name: str, line: str, where: str) -> _Pair:
    match [cell.strip() for cell in line.split(",")]:
        case [y_a, x_a, y_b, x_b, ("<" | ">") as relation, _, height]:
            try:
                a = float(x_a) - 1, float(y_a) - 1
                b = float(x_b) - 1, float(y_b) - 1
                rows = float(height)
            except ValueError as why:
                raise SourceError(f"{where}: {why}") from why
        case _:
            raise SourceError(
                f"{where}: expected y_A,x_A,y_B,x_B,< or >,width,height; found {line!r}"
            )
    closer, farther = (a, b) if relation == "<" else (b, a)
    return _Pair(name, image_file(source, name, where), closer, farther, rows)
