"""Tasks whose options are images: art style, visual similarity, forensic detection (section 3.2).

Raw data, each in a folder of its own:

* Art_Style: WikiArt, ``<Style>/<painting>.jpg``;
* Visual_Similarity: NIGHTS, the data set of DreamSim: ``data.csv`` with ``id``, ``left_vote``,
  ``right_vote`` (1 for the side that people chose, else 0), ``votes`` (how many people agreed),
  ``ref_path``, ``left_path`` and ``right_path``, paths below the folder;
* Forensic_Detection: ``captions.jsonl`` with ``id``, ``caption``, ``real`` (a photograph found by
  hand for the caption) and ``generated`` (three images that a generator made of it). The paper
  takes captions of COCO and images of Stable Diffusion XL.
"""

import csv
from dataclasses import dataclass
from pathlib import Path
from random import Random

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Rejection
from bench_assets.core.tables.json_records import Entry, field, read_lines
from bench_assets.suites.blink.builders.drafts import (
    Candidates,
    Draft,
    candidates,
    image_choice,
)
from bench_assets.suites.blink.builders.raw_files import (
    folders_in,
    image_file,
    images_in,
    lines_of,
)

_PLACES = tuple(f"the {number} image" for number in ("first", "second", "third", "fourth"))
_COLUMNS = {"id", "left_vote", "right_vote", "votes", "ref_path", "left_path", "right_path"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtStyleParameters:
    """Which styles are set against each other; not given by the paper."""

    kindred: tuple[tuple[str, ...], ...] = (
        ("Cubism", "Analytical_Cubism", "Synthetic_Cubism"),
        ("Expressionism", "Abstract_Expressionism", "Action_painting"),
        ("Impressionism", "Post_Impressionism", "Pointillism"),
        ("Realism", "New_Realism", "Contemporary_Realism"),
        ("Early_Renaissance", "High_Renaissance", "Northern_Renaissance"),
    )
    """Styles that people confuse; two of one group are never set against each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VisualSimilarityParameters:
    """Which triplets people agree on; the paper does not say."""

    min_votes: int = 6
    """Least number of people that agreed; DreamSim itself takes triplets from six on."""


def art_style(
    source: Path, rng: Random, parameters: ArtStyleParameters = ArtStyleParameters()
) -> Candidates:
    """Draw a painting, one of its style and one of another; each is used once.

    Raises:
        SourceError: If there are fewer than two styles with paintings.
    """
    paintings = {folder.name: images_in(folder) for folder in folders_in(source)}
    if sum(map(bool, paintings.values())) < 2:
        raise SourceError(f"{source}: expected paintings in folders of two styles or more")
    for style in sorted(paintings):
        rng.shuffle(paintings[style])
    while pairs := _style_pairs(paintings, parameters):
        style, other = rng.choice(pairs)
        reference, alike = paintings[style].pop(), paintings[style].pop()
        unlike = paintings[other].pop()
        entry = ", ".join(f"{file.parent.name}/{file.name}" for file in (reference, alike, unlike))
        yield image_choice("Art_Style", entry, alike, [unlike], reference=(reference,))


def visual_similarity(
    source: Path, rng: Random, parameters: VisualSimilarityParameters = VisualSimilarityParameters()
) -> Candidates:
    """Ask about each triplet that people agree on, in drawn order.

    Raises:
        SourceError: If the list cannot be read, or has no such columns.
    """
    file = source / "data.csv"
    rows = list(csv.DictReader(line for line, _ in lines_of(file)))
    if rows and (missing := _COLUMNS - rows[0].keys()):
        raise SourceError(f"{file}: no columns {sorted(missing)}; it has {', '.join(rows[0])}")
    named = [(row, f"{file}, id {row['id']}") for row in rows]
    return candidates(named, rng, lambda row, where: _triplet(source, row, where, parameters))


def forensic_detection(source: Path, rng: Random) -> Candidates:
    """Ask for the photograph of each caption, in drawn order.

    Raises:
        SourceError: If the list cannot be read.
    """
    rejections: list[Rejection] = []
    lines = list(read_lines(source / "captions.jsonl", rejections))
    yield from rejections
    yield from candidates(lines, rng, lambda entry, where: _photograph(source, entry, where))


def _style_pairs(
    paintings: dict[str, list[Path]], parameters: ArtStyleParameters
) -> list[tuple[str, str]]:
    return [
        (style, other)
        for style in sorted(paintings)
        for other in sorted(paintings)
        if style != other
        and len(paintings[style]) >= 2
        and paintings[other]
        and not any(style in group and other in group for group in parameters.kindred)
    ]


def _triplet(
    source: Path, row: dict[str, str], where: str, parameters: VisualSimilarityParameters
) -> Draft | Rejection:
    if absent := [name for name in sorted(_COLUMNS) if row[name] is None]:
        raise SourceError(f"{where}: no {', '.join(absent)}: the line is cut short")
    try:
        left, right, votes = (float(row[name]) for name in ("left_vote", "right_vote", "votes"))
    except ValueError as why:
        raise SourceError(f"{where}: a vote is not a number: {why}") from why
    entry = f"data.csv, id {row['id']}"
    if {left, right} != {0.0, 1.0}:
        return Rejection(entry=entry, reason=f"people disagree: {left:g} to {right:g}")
    if not votes >= parameters.min_votes:
        return Rejection(entry=entry, reason=f"only {votes:g} people agreed")
    paths = [image_file(source, row[f"{side}_path"], where) for side in ("ref", "left", "right")]
    reference, alike, unlike = paths if left else (paths[0], paths[2], paths[1])
    return image_choice("Visual_Similarity", entry, alike, [unlike], reference=(reference,))


def _photograph(source: Path, entry: Entry, where: str) -> Draft:
    names = field(entry, "generated", list, where)
    if len(names) != 3 or not all(isinstance(name, str) for name in names):
        raise SourceError(f"{where}: field 'generated' is {names!r}, expected three paths")
    real = image_file(source, field(entry, "real", str, where), where)
    generated = [image_file(source, name, where) for name in names]
    name = f"captions.jsonl, id {field(entry, 'id', str, where)}"
    return image_choice("Forensic_Detection", name, real, generated, _PLACES)
