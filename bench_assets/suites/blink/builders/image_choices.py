"""Tasks whose options are images: art, similarity, forensics and jigsaws (section 3.2).

Raw data, one folder per task:

* Art_Style: WikiArt, ``<Style>/<painting>.jpg``;
* Visual_Similarity: NIGHTS, the data set of DreamSim: ``data.csv`` with ``id``, ``left_vote``,
  ``right_vote`` (1 for the side that people chose, else 0), ``votes`` (how many people agreed),
  ``ref_path``, ``left_path`` and ``right_path``, paths below the folder;
* Forensic_Detection: ``captions.jsonl`` with ``id``, ``caption``, ``real`` (a photograph found by
  hand for the caption) and ``generated`` (three images generated from it). The paper
  takes captions of COCO and images of Stable Diffusion XL;
* Jigsaw: a folder of photographs (the paper takes TARA's). A photograph is cut into 3 x 3 cells;
  the upper left four are shown, the last of them, the centre of the photograph, covered in black.
"""

import csv
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
from PIL.Image import Image

from bench_assets.core.images.drawing import encode_jpeg, mask_box, scale_to_height
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Rejection
from bench_assets.core.tables.json_records import Entry, read_lines, require_field
from bench_assets.core.tables.read_rows import record_row
from bench_assets.suites.blink.builders.drafts import (
    SECOND_OR_THIRD,
    Candidates,
    Draft,
    DraftView,
    Marks,
    image_choice,
    insert_at,
    make_candidates,
    make_entry_candidates,
    wording,
)
from bench_assets.suites.blink.builders.raw_files import (
    folders_in,
    image_file,
    images_in,
    read_image,
    read_lines_with_place,
)

_OPTION_NAMES = tuple(f"the {number} image" for number in ("first", "second", "third", "fourth"))
_COLUMNS = {"id", "left_vote", "right_vote", "votes", "ref_path", "left_path", "right_path"}


_KINDRED = (
    ("Cubism", "Analytical_Cubism", "Synthetic_Cubism"),
    ("Expressionism", "Abstract_Expressionism", "Action_painting"),
    ("Impressionism", "Post_Impressionism", "Pointillism"),
    ("Realism", "New_Realism", "Contemporary_Realism"),
    ("Early_Renaissance", "High_Renaissance", "Northern_Renaissance"),
)
"""Groups of styles that people confuse; a question never contrasts two of one group. The paper
gives none."""
_MIN_VOTES = 6  # least number of people that agreed on a triplet; DreamSim uses six


def art_style(source: Path, rng: Random) -> Candidates:
    """Draw a painting, one of its style and one of another; each is used once.

    Raises:
        SourceError: If there are fewer than two styles with paintings.
    """
    paintings = {folder.name: images_in(folder) for folder in folders_in(source)}
    if sum(map(bool, paintings.values())) < 2:
        raise SourceError(f"{source}: expected paintings in folders of two styles or more")
    for style in sorted(paintings):
        rng.shuffle(paintings[style])
    while pairs := _style_pairs(paintings):
        style, other_style = rng.choice(pairs)
        reference, positive = paintings[style].pop(), paintings[style].pop()
        negative = paintings[other_style].pop()
        entry = ", ".join(
            f"{file.parent.name}/{file.name}" for file in (reference, positive, negative)
        )
        yield image_choice("Art_Style", entry, positive, [negative], reference=(reference,))


def visual_similarity(source: Path, rng: Random) -> Candidates:
    """Ask about each triplet that people agree on, in random order.

    Raises:
        SourceError: If the list cannot be read, or lacks a column.
    """
    file = source / "data.csv"
    rows = list(csv.DictReader(line for line, _ in read_lines_with_place(file)))
    named_rows = [(row, f"{file}, row {number}") for number, row in enumerate(rows, 1)]
    for row, where in named_rows:
        record_row(where, row)
    if rows and (missing := _COLUMNS - rows[0].keys()):
        raise SourceError(f"{file}: no columns {sorted(missing)}; it has {', '.join(rows[0])}")
    return make_candidates(named_rows, rng, partial(_triplet, source))


def forensic_detection(source: Path, rng: Random) -> Candidates:
    """Ask for the photograph of each caption, in random order.

    Raises:
        SourceError: If the list cannot be read.
    """
    return make_entry_candidates(
        read_lines(source / "captions.jsonl"), rng, partial(_photograph, source)
    )


def _style_pairs(paintings: dict[str, list[Path]]) -> list[tuple[str, str]]:
    return [
        (style, painting)
        for style in sorted(paintings)
        for painting in sorted(paintings)
        if style != painting
        and len(paintings[style]) >= 2
        and paintings[painting]
        and not any(style in group and painting in group for group in _KINDRED)
    ]


def _triplet(source: Path, row: dict[str, str], where: str) -> Draft | Rejection:
    if absent := [name for name in sorted(_COLUMNS) if row[name] is None]:
        raise SourceError(f"{where}: no {', '.join(absent)}: the line is cut short")
    try:
        left, right, votes = (float(row[name]) for name in ("left_vote", "right_vote", "votes"))
    except ValueError as error:
        raise SourceError(f"{where}: a vote is not a number: {error}") from error
    entry = f"data.csv, id {row['id']}"
    if {left, right} != {0.0, 1.0}:
        return Rejection(entry=entry, reason=f"people disagree: {left:g} to {right:g}")
    if not votes >= _MIN_VOTES:
        return Rejection(entry=entry, reason=f"only {votes:g} people agreed")
    paths = [image_file(source, row[f"{side}_path"], where) for side in ("ref", "left", "right")]
    reference, positive, negative = paths if left else (paths[0], paths[2], paths[1])
    return image_choice("Visual_Similarity", entry, positive, [negative], reference=(reference,))


def _photograph(source: Path, entry: Entry, where: str) -> Draft:
    names = require_field(entry, "generated", list, where)
    if len(names) != 3 or not all(isinstance(name, str) for name in names):
        raise SourceError(f"{where}: field 'generated' is {names!r}, expected three paths")
    real = image_file(source, require_field(entry, "real", str, where), where)
    generated = [image_file(source, name, where) for name in names]
    name = f"captions.jsonl, id {require_field(entry, 'id', str, where)}"
    return image_choice("Forensic_Detection", name, real, generated, _OPTION_NAMES)


_HIDDEN = ((2, 0), (2, 1), (0, 2), (1, 2), (2, 2))  # column, row of cells the question never shows
_CENTRE = (1, 1)
_MIN_DIFFERENCE = 12.0  # of pieces on average, in levels of 255; not given by the paper


def jigsaw(source: Path, rng: Random) -> Candidates:
    """Ask one question about each photograph, in random order.

    Raises:
        SourceError: If there are no photographs.
    """
    files = images_in(source) if source.is_dir() else []
    if not files:
        raise SourceError(f"{source}: expected photographs, found none")
    named_files = [(file, str(file)) for file in files]
    return make_candidates(named_files, rng, lambda file, _: _candidate(file, rng))


def cell(image: Image, column: int, row: int) -> Image:
    """Cut out one of the 3 x 3 cells; px beyond a multiple of three are cut off.

    >>> from PIL import Image
    >>> cell(Image.new("RGB", (301, 90)), 2, 1).size
    (100, 30)
    """
    wide, high = image.width // 3, image.height // 3
    return image.crop((column * wide, row * high, (column + 1) * wide, (row + 1) * high))


def with_missing_corner(image: Image) -> Image:
    """Keep the upper left 2 x 2 cells and cover the lower right one of them."""
    wide, high = image.width // 3, image.height // 3
    corner = image.crop((0, 0, 2 * wide, 2 * high))
    return mask_box(corner, (wide, high, 2 * wide, 2 * high))


def _candidate(file: Path, rng: Random) -> Draft | Rejection:
    image = read_image(file)
    centre = cell(image, *_CENTRE)
    dissimilar = [
        position
        for position in _HIDDEN
        if _difference(cell(image, *position), centre) >= _MIN_DIFFERENCE
    ]
    if not dissimilar:
        return Rejection(entry=file.name, reason="ambiguous: every other piece looks like it")
    wrong = rng.choice(dissimilar)

    def show(place: int, marks: Marks) -> DraftView:
        scaled = scale_to_height(read_image(file), marks.height)
        pieces = insert_at(cell(scaled, *_CENTRE), [cell(scaled, *wrong)], place)
        images = (with_missing_corner(scaled), *pieces)
        return DraftView(
            asked=wording("Jigsaw"), images=tuple(map(encode_jpeg, images)), options=SECOND_OR_THIRD
        )

    return Draft(entry=file.name, originals=(file,), n_options=2, places=(0, 1), show=show)


def _difference(one: Image, other: Image) -> float:
    return float(np.abs(np.asarray(one, np.float32) - np.asarray(other, np.float32)).mean())
