"""Semantic correspondence: the same part of another object of the kind (section 3.2).

Raw data: SPair-71k, ``PairAnnotation/<split>/<pair>.json`` with ``src_imname``, ``trg_imname``,
``category``, and ``src_kps`` and ``trg_kps``: [x, y] in px, the n-th of one corresponding to the
n-th of the other; images in ``JPEGImages/<category>/``.
"""

from dataclasses import dataclass
from math import dist
from pathlib import Path
from random import Random

from bench_assets.core.images.drawing import Point
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Rejection
from bench_assets.core.tables.json_records import Entry, field
from bench_assets.suites.blink.dataset.draft import (
    Candidates,
    Draft,
    Marks,
    QuestionWording,
    wording,
)
from bench_assets.suites.blink.raw_formats import point_pairs
from bench_assets.suites.blink.raw_formats.image_folders import (
    files_in,
    image_file,
    numbers_in,
    read_object,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticCorrespondenceParameters:
    """Which points can be told apart; not given by the paper."""

    min_distance: float = 0.06
    """Between any two options, as a share of the larger extent of all points of the image."""


def build(
    source: Path,
    rng: Random,
    parameters: SemanticCorrespondenceParameters = SemanticCorrespondenceParameters(),
) -> Candidates:
    """Ask about one drawn point of each pair, in drawn order.

    Raises:
        SourceError: If there are no pairs, or one is not of the form above; names it.
    """
    files = files_in(source, "PairAnnotation/*/*.json")
    for file in rng.sample(files, len(files)):
        yield _candidate(source, file, rng, parameters)


def _candidate(
    source: Path, file: Path, rng: Random, parameters: SemanticCorrespondenceParameters
) -> Draft | Rejection:
    pair, where = read_object(file), str(file)
    first, second = (_points(pair, name, where) for name in ("src_kps", "trg_kps"))
    if len(first) != len(second):
        raise SourceError(f"{where}: {len(first)} points correspond to {len(second)}")
    entry = f"{file.parent.name}/{file.name}"
    if len(first) < 4:
        return Rejection(entry=entry, reason=f"four common points are needed, it has {len(first)}")
    extent = max(dist(one, other) for one in second for other in second)
    nth = rng.randrange(len(first))
    rest = second[:nth] + second[nth + 1 :]
    others = point_pairs.three_apart(second[nth], rest, parameters.min_distance * extent, rng)
    if others is None:
        return Rejection(entry=entry, reason="ambiguous: the points lie too close together")
    folder = source / "JPEGImages" / field(pair, "category", str, where)
    correspondence = point_pairs.Correspondence(
        first=image_file(folder, field(pair, "src_imname", str, where), where),
        second=image_file(folder, field(pair, "trg_imname", str, where), where),
        reference=first[nth],
        match=second[nth],
        others=others,
    )
    return point_pairs.draft(correspondence, entry, _asked)


def _asked(marks: Marks) -> QuestionWording:
    return wording("Semantic_Correspondence", colour=marks.colour)


def _points(pair: Entry, name: str, where: str) -> list[Point]:
    listed = [
        numbers_in(point, 2, f"{where}: point {nth} of {name!r}")
        for nth, point in enumerate(field(pair, name, list, where), 1)
    ]
    return [(x, y) for x, y in listed]
