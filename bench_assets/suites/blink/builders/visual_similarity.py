"""Visual similarity: which of two images looks more like a third? (section 3.2).

Raw data: NIGHTS, the data set of DreamSim: ``data.csv`` with ``id``, ``left_vote``, ``right_vote``
(1 for the side people chose, else 0), ``votes`` (how many people agreed), ``ref_path``,
``left_path`` and ``right_path``, paths below the folder.
"""

import csv
from dataclasses import dataclass
from pathlib import Path
from random import Random

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Rejection
from bench_assets.suites.blink.dataset.draft import (
    SECOND_OR_THIRD,
    Candidates,
    Draft,
    DraftView,
    Marks,
    anywhere,
    placed,
    wording,
)
from bench_assets.suites.blink.raw_formats.image_folders import image_file, lines_of

_COLUMNS = {"id", "left_vote", "right_vote", "votes", "ref_path", "left_path", "right_path"}


@dataclass(frozen=True, slots=True, kw_only=True)
class VisualSimilarityParameters:
    """Which triplets people agree on; the paper does not say."""

    min_votes: int = 6
    """Least number of people that agreed; DreamSim itself takes triplets from six on."""


def build(
    source: Path, rng: Random, parameters: VisualSimilarityParameters = VisualSimilarityParameters()
) -> Candidates:
    """Ask about each triplet, in drawn order.

    Raises:
        SourceError: If the list is missing or a row is not of the form above; names it.
    """
    file = source / "data.csv"
    rows = list(csv.DictReader(line for line, _ in lines_of(file)))
    if rows and (missing := _COLUMNS - rows[0].keys()):
        raise SourceError(f"{file}: no columns {sorted(missing)}; it has {', '.join(rows[0])}")
    for row in rng.sample(rows, len(rows)):
        yield _candidate(source, row, f"{file}, id {row['id']}", parameters)


def _candidate(
    source: Path, row: dict[str, str], where: str, parameters: VisualSimilarityParameters
) -> Draft | Rejection:
    try:
        left, right, votes = (float(row[name]) for name in ("left_vote", "right_vote", "votes"))
    except (TypeError, ValueError) as why:
        raise SourceError(f"{where}: a vote is not a number: {why}") from why
    name = f"data.csv, id {row['id']}"
    if {left, right} != {0.0, 1.0}:
        return Rejection(entry=name, reason=f"people disagree: {left:g} to {right:g}")
    if votes < parameters.min_votes:
        return Rejection(entry=name, reason=f"only {votes:g} people agreed")
    paths = [image_file(source, row[f"{side}_path"], where) for side in ("ref", "left", "right")]
    reference, alike, unlike = paths if left else (paths[0], paths[2], paths[1])

    def show(place: int, marks: Marks) -> DraftView:
        images = (reference, *placed(alike, [unlike], place))
        return DraftView(
            asked=wording("Visual_Similarity"),
            images=tuple(image.read_bytes() for image in images),
            options=SECOND_OR_THIRD,
        )

    return Draft(entry=name, originals=tuple(paths), n_options=2, places=anywhere(2), show=show)
