"""Functional correspondence: the part of another object that does the same job (section 3.2).

Raw data: FunKPoint as one list, ``annotations.json``, entries ``{image, object, action, points}``:
a path below the folder, what is shown, what it is used for, and its five points [x, y] in px, the
n-th of every entry of one action having the same function. (The data set's authors hand it out on
request and have published no layout; this is the least that holds what their paper describes.)
"""

from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from math import dist
from pathlib import Path
from random import Random
from typing import NamedTuple

from bench_assets.core.images.drawing import Point
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Rejection
from bench_assets.core.tables.json_records import Entry, field, read_entries
from bench_assets.suites.blink.dataset.draft import (
    Candidates,
    Draft,
    Marks,
    QuestionWording,
    wording,
)
from bench_assets.suites.blink.raw_formats import point_pairs
from bench_assets.suites.blink.raw_formats.image_folders import image_file, numbers_in


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionalCorrespondenceParameters:
    """Which points can be told apart; not given by the paper."""

    min_distance: float = 0.06
    """Between any two options, as a share of the largest distance of two points."""


class _Tool(NamedTuple):
    image: Path
    name: str
    points: list[Point]  # px


def build(
    source: Path,
    rng: Random,
    parameters: FunctionalCorrespondenceParameters = FunctionalCorrespondenceParameters(),
) -> Candidates:
    """Ask about one drawn point of pairs of unlike objects; every image is in one pair.

    Raises:
        SourceError: If the list is missing or an entry is not of the form above; names it.
    """
    tools: dict[str, list[_Tool]] = defaultdict(list)
    for entry, where in read_entries(source / "annotations.json"):
        tools[field(entry, "action", str, where)].append(_tool(source, entry, where))
    pairs = [(action, *pair) for action in sorted(tools) for pair in _pairs(tools[action], rng)]
    for action, first, second in rng.sample(pairs, len(pairs)):
        yield _candidate(action, first, second, rng, parameters)


def _pairs(tools: list[_Tool], rng: Random) -> list[tuple[_Tool, _Tool]]:
    """Pair each image, as long as there is one of another object left."""
    left = rng.sample(tools, len(tools))
    pairs = []
    while left:
        first = left.pop()
        second = next((tool for tool in left if tool.name != first.name), None)
        if second is not None:
            left.remove(second)
            pairs.append((first, second))
    return pairs


def _candidate(
    action: str,
    first: _Tool,
    second: _Tool,
    rng: Random,
    parameters: FunctionalCorrespondenceParameters,
) -> Draft | Rejection:
    nth = rng.randrange(5)
    extent = max(dist(one, other) for one in second.points for other in second.points)
    rest = second.points[:nth] + second.points[nth + 1 :]
    others = point_pairs.three_apart(
        second.points[nth], rest, parameters.min_distance * extent, rng
    )
    entry = f"{action}: {first.image.name} and {second.image.name}"
    if others is None:
        return Rejection(entry=entry, reason="ambiguous: the points lie too close together")
    correspondence = point_pairs.Correspondence(
        first=first.image,
        second=second.image,
        reference=first.points[nth],
        match=second.points[nth],
        others=others,
    )
    return point_pairs.draft(correspondence, entry, partial(_asked, action))


def _asked(action: str, marks: Marks) -> QuestionWording:
    return wording("Functional_Correspondence", colour=marks.colour, action=action)


def _tool(source: Path, entry: Entry, where: str) -> _Tool:
    listed = field(entry, "points", list, where)
    if len(listed) != 5:
        raise SourceError(f"{where}: field 'points' has {len(listed)} points, expected five")
    named = [numbers_in(p, 2, f"{where}: point {nth}") for nth, p in enumerate(listed, 1)]
    return _Tool(
        image=image_file(source, field(entry, "image", str, where), where),
        name=field(entry, "object", str, where),
        points=[(x, y) for x, y in named],
    )
