"""Drafts: questions whose right option has no place yet, in the forms that tasks share."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import dist
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeAlias, TypeVar

from PIL.Image import Image

from bench_assets.core.images.drawing import (
    Mark,
    Point,
    draw_labelled_circles,
    encode_jpeg,
    scale_to_height,
)
from bench_assets.core.reading.choices import lettered
from bench_assets.core.schema.rows import Rejection
from bench_assets.core.tables.build import Table
from bench_assets.core.tables.json_records import Entry, LocatedEntry, make_rows
from bench_assets.core.tables.read_rows import record_row
from bench_assets.suites.blink.builders.raw_files import read_image

Item = TypeVar("Item")

SECOND_OR_THIRD = ("the second image", "the third image")
POINTS = ("Point A", "Point B", "Point C", "Point D")
MIN_DISTANCE = 0.06
"""Minimum distance of two circled points, as a share of the image's height."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Appearance of visual prompts (appendix A.1)."""

    height: int = 1024
    """Height in px of every image that is drawn on; the aspect ratio is kept."""
    radius: int = 10
    """Radius of circles in px."""
    colour: str = "red"
    """Colour of circles and their labels, a CSS name."""


class QuestionWording(NamedTuple):
    """A question in the words of the release."""

    question: str
    prompt: str  # in full, with "{options}" in place of the options


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftView:
    """What a draft shows once its right option has a place."""

    wording: QuestionWording
    images: tuple[bytes, ...]  # files, in the order shown
    options: tuple[str, ...]

    @property
    def prompt(self) -> str:
        """The question in full, with its lettered options."""
        return self.wording.prompt.replace("{options}", lettered(self.options))


Show: TypeAlias = Callable[[int, Marks], DraftView]  # with the right option in that place


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A question whose right option has no place yet."""

    entry: str  # file and entry that it comes from
    originals: tuple[Path, ...]  # the images it uses
    n_options: int
    places: tuple[int, ...]  # possible places of the right option; one if the data fix it
    show: Show
    scene: str = ""  # shared with other drafts whose images may look alike
    marks: Marks = Marks()
    points: Mapping[Path, tuple[Point, ...]] = field(default_factory=dict)
    """px of the upright images; points outside of them reject the draft."""
    labels: Mapping[str, str] = field(default_factory=dict)


Candidates: TypeAlias = Iterator[Draft | Rejection]


def make_candidates(
    rows: Sequence[tuple[Item, str]], rng: Random, make: Callable[[Item, str], Draft | Rejection]
) -> Candidates:
    """Make a candidate of each row, in random order; an invalid row becomes a rejection.

    Args:
        rows: Each with its location (file and row) for messages.
        rng: Draws the order.
        make: Makes a candidate; raises SourceError or ImageError for an invalid row.
    """
    yield from make_ordered_candidates(rng.sample(rows, len(rows)), make)


def make_ordered_candidates(
    rows: Sequence[tuple[Item, str]], make: Callable[[Item, str], Draft | Rejection]
) -> Candidates:
    """Make a candidate of each row, as ``make_candidates``, in the order of the rows."""
    for _, where in rows:  # record all rows, even if the caller stops early
        record_row(where)
    for row, where in rows:
        table = Table[Draft]()
        with table.rejecting(where):
            yield make(row, where)
        yield from table.rejections


def make_entry_candidates(
    entries: Iterable[LocatedEntry], rng: Random, make: Callable[[Entry, str], Draft | Rejection]
) -> Candidates:
    """Make a candidate of each entry of a file, as ``make_candidates``."""
    located = make_rows(entries, lambda entry, where: (entry, where))
    yield from located.rejections
    yield from make_candidates(located.rows, rng, make)


def insert_at(right: Item, wrong: Sequence[Item], place: int) -> tuple[Item, ...]:
    """Insert the right item among the wrong ones, which keep their order.

    >>> insert_at("right", ("w1", "w2", "w3"), 2)
    ('w1', 'w2', 'right', 'w3')
    """
    return (*wrong[:place], right, *wrong[place:])


def wording(task: str, **blanks: str) -> QuestionWording:
    r"""Return a task's wording with its blanks filled in, but for the options.

    >>> wording("Counting", question="How many giraffes are sitting?").prompt
    'How many giraffes are sitting?\nSelect from the following choices.\n{options}'
    """
    template = _wordings()[task]
    return QuestionWording(
        question=template["question"].format(**blanks),
        prompt=template["prompt"].format(**blanks, options="{options}"),
    )


def image_choice(
    task: str,
    entry: str,
    right: Path,
    wrong: Sequence[Path],
    options: tuple[str, ...] = SECOND_OR_THIRD,
    reference: tuple[Path, ...] = (),
) -> Draft:
    """Draft a question whose options are unchanged images, shown after the reference."""

    def show(place: int, marks: Marks) -> DraftView:
        files = (*reference, *insert_at(right, wrong, place))
        return _file_view(wording(task), files, options)

    return Draft(
        entry=entry,
        originals=(*reference, right, *wrong),
        n_options=len(options),
        places=tuple(range(len(options))),
        show=show,
    )


def fixed_choice(
    question_wording: QuestionWording,
    entry: str,
    image: Path,
    options: tuple[str, ...],
    place: int,
    **labels: str,
) -> Draft:
    """Draft a question about an unchanged image, whose right option has a fixed place."""
    return Draft(
        entry=entry,
        originals=(image,),
        n_options=len(options),
        places=(place,),
        show=lambda place, marks: _file_view(question_wording, [image], options),
        labels=labels,
    )


def number_choice(
    question: str, entry: str, image: Path, right: int, wrong: Sequence[int]
) -> Draft:
    """Draft a counting question about an unchanged image."""

    def show(place: int, marks: Marks) -> DraftView:
        options = insert_at(str(right), [str(number) for number in wrong], place)
        return _file_view(wording("Counting", question=question), [image], options)

    return Draft(entry=entry, originals=(image,), n_options=4, places=(0, 1, 2, 3), show=show)


class PointCorrespondence(NamedTuple):
    """A point of one image, its match on another, and other points there.

    Points are in px of the upright images.
    """

    first: Path
    second: Path
    reference: Point  # on the first image
    match: Point  # on the second image
    other_points: Sequence[Point]  # on the second image; points too close to the match are ignored


def match_choice(
    task: str,
    entry: str,
    pair: PointCorrespondence,
    min_distance: float,
    rng: Random,
    **blanks: str,
) -> Draft | None:
    """Draft the question which of four points matches the reference; None if too few lie apart.

    Wrong options are drawn from the other points of the pair; any two options lie ``min_distance``
    px apart or more. ``blanks`` fill the blanks of the task's wording.
    """
    distractors = draw_distant_points(pair.match, pair.other_points, min_distance, rng)
    if distractors is None:
        return None

    def show(place: int, marks: Marks) -> DraftView:
        options = insert_at(pair.match, distractors, place)
        circled = [Mark(letter, point) for letter, point in zip("ABCD", options, strict=True)]
        return DraftView(
            wording=wording(task, colour=marks.colour, **blanks),
            images=(
                draw_circles(read_image(pair.first), [Mark("REF", pair.reference)], marks),
                draw_circles(read_image(pair.second), circled, marks),
            ),
            options=POINTS,
        )

    return Draft(
        entry=entry,
        originals=(pair.first, pair.second),
        points={pair.first: (pair.reference,), pair.second: (pair.match, *distractors)},
        n_options=4,
        places=(0, 1, 2, 3),
        show=show,
    )


def draw_circles(image: Image, points: Sequence[Mark], marks: Marks) -> bytes:
    """Scale an image, circle points given in its own px, and encode it."""
    scale = marks.height / image.height
    scaled = [Mark(label, (x * scale, y * scale)) for label, (x, y) in points]
    circled = draw_labelled_circles(
        scale_to_height(image, marks.height), scaled, radius=marks.radius, colour=marks.colour
    )
    return encode_jpeg(circled)


def draw_distant_points(
    match: Point, points: Sequence[Point], min_distance: float, rng: Random
) -> list[Point] | None:
    """Draw three points at least ``min_distance`` px from the match and each other, or None."""
    drawn: list[Point] = []
    for point in rng.sample(points, len(points)):
        if all(dist(point, option) >= min_distance for option in (match, *drawn)):
            drawn.append(point)
        if len(drawn) == 3:
            return drawn
    return None


def _file_view(
    question_wording: QuestionWording, files: Sequence[Path], options: tuple[str, ...]
) -> DraftView:
    images = tuple(file.read_bytes() for file in files)
    return DraftView(wording=question_wording, images=images, options=options)


@lru_cache(maxsize=1)
def _wordings() -> dict[str, dict[str, str]]:
    wordings: dict[str, dict[str, str]] = json.loads(
        Path(__file__).with_name("wordings.json").read_text(encoding="utf-8")
    )
    return wordings
