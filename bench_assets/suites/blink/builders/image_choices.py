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
from itertools import permutations
from pathlib import Path
from random import Random

import numpy as np
from PIL.Image import Image

from bench_assets.core.images.drawing import encode_jpeg, mask_box, scale_to_height
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Rejection
from bench_assets.core.tables.json_records import (
    Entry,
    read_lines,
    refuse_duplicate_columns,
    require_field,
)
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
    read_located_lines,
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
_MIN_VOTES = 6  # people that agreed on a triplet, at least; DreamSim uses six


def art_style(source: Path, rng: Random) -> Candidates:
    """Draw a painting, one of its style and one of another; each is used once."""
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
    """Ask about each triplet that people agree on, in random order."""
    file = source / "data.csv"
    reader = csv.DictReader(line for line, _ in read_located_lines(file))
    located_rows = [(row, f"{file}, row {number}") for number, row in enumerate(reader, 1)]
    for row, where in located_rows:
        record_row(where, row)
    columns = reader.fieldnames or []
    refuse_duplicate_columns(columns, file)
    missing = _COLUMNS.difference(columns)
    if located_rows and missing:
        raise SourceError(f"{file}: no columns {sorted(missing)}; it has {', '.join(columns)}")
    return make_candidates(located_rows, rng, partial(_triplet_draft, source))


def forensic_detection(source: Path, rng: Random) -> Candidates:
    """Ask for the photograph of each caption, in random order."""
    return make_entry_candidates(
        read_lines(source / "captions.jsonl"), rng, partial(_photograph_draft, source)
    )


def _style_pairs(paintings: dict[str, list[Path]]) -> list[tuple[str, str]]:
    """List the (style, other style) pairs that are not kindred and have enough paintings left."""
    return [
        (style, other_style)
        for style, other_style in permutations(sorted(paintings), 2)
        if len(paintings[style]) >= 2  # the reference and the right option
        and paintings[other_style]
        and not any(style in group and other_style in group for group in _KINDRED)
    ]


def _triplet_draft(source: Path, row: dict[str, str], where: str) -> Draft | Rejection:
    """Ask for the image that people chose; triplets without enough agreement are rejected."""
    if absent := [name for name in sorted(_COLUMNS) if row[name] is None]:
        raise SourceError(f"{where}: no {', '.join(absent)}: the line is cut short")
    try:
        left_vote, right_vote = float(row["left_vote"]), float(row["right_vote"])
        n_votes = float(row["votes"])
    except ValueError as error:
        raise SourceError(f"{where}: a vote is not a number: {error}") from error
    entry = f"data.csv, id {row['id']}"
    if {left_vote, right_vote} != {0.0, 1.0}:
        return Rejection(entry=entry, reason=f"people disagree: {left_vote:g} to {right_vote:g}")
    if not n_votes >= _MIN_VOTES:  # also NaN
        return Rejection(entry=entry, reason=f"only {n_votes:g} people agreed")
    reference, left, right = (
        image_file(source, row[name], where) for name in ("ref_path", "left_path", "right_path")
    )
    positive, negative = (left, right) if left_vote else (right, left)
    return image_choice("Visual_Similarity", entry, positive, [negative], reference=(reference,))


def _photograph_draft(source: Path, entry: Entry, where: str) -> Draft:
    names = require_field(entry, "generated", list, where)
    if len(names) != 3 or not all(isinstance(name, str) for name in names):
        raise SourceError(f"{where}: field 'generated' is {names!r}, expected three paths")
    real = image_file(source, require_field(entry, "real", str, where), where)
    generated = [image_file(source, name, where) for name in names]
    name = f"captions.jsonl, id {require_field(entry, 'id', str, where)}"
    return image_choice("Forensic_Detection", name, real, generated, _OPTION_NAMES)


_HIDDEN = ((2, 0), (2, 1), (0, 2), (1, 2), (2, 2))  # column, row of cells the question never shows
_CENTRE = (1, 1)
_MIN_DIFFERENCE = 12.0  # mean difference of pieces, in levels of 255; not given by the paper


def jigsaw(source: Path, rng: Random) -> Candidates:
    """Ask one question about each photograph, in random order."""
    files = images_in(source) if source.is_dir() else []
    if not files:
        raise SourceError(f"{source}: expected photographs, found none")
    located_files = [(file, str(file)) for file in files]
    return make_candidates(located_files, rng, lambda file, _: _jigsaw_draft(file, rng))


def cell(image: Image, column: int, row: int) -> Image:
    """Cut out one of the 3 x 3 cells; px beyond a multiple of three are cut off.

    >>> from PIL import Image
    >>> cell(Image.new("RGB", (301, 90)), 2, 1).size
    (100, 30)
    """
    width, height = image.width // 3, image.height // 3
    return image.crop((column * width, row * height, (column + 1) * width, (row + 1) * height))


def with_missing_corner(image: Image) -> Image:
    """Keep the upper left 2 x 2 cells and cover the lower right one of them."""
    width, height = image.width // 3, image.height // 3
    corner = image.crop((0, 0, 2 * width, 2 * height))
    return mask_box(corner, (width, height, 2 * width, 2 * height))


def _jigsaw_draft(file: Path, rng: Random) -> Draft | Rejection:
    """Ask for the centre; the wrong piece is a random hidden cell that differs enough from it."""
    image = read_image(file)
    centre = cell(image, *_CENTRE)
    dissimilar_cells = [
        (column, row)
        for column, row in _HIDDEN
        if _difference(cell(image, column, row), centre) >= _MIN_DIFFERENCE
    ]
    if not dissimilar_cells:
        reason = "ambiguous: every hidden piece looks like the missing one"
        return Rejection(entry=file.name, reason=reason)
    wrong_column, wrong_row = rng.choice(dissimilar_cells)

    def show(place: int, marks: Marks) -> DraftView:
        scaled = scale_to_height(read_image(file), marks.height)
        wrong_piece = cell(scaled, wrong_column, wrong_row)
        pieces = insert_at(cell(scaled, *_CENTRE), [wrong_piece], place)
        images = (with_missing_corner(scaled), *pieces)
        return DraftView(
            wording=wording("Jigsaw"),
            images=tuple(map(encode_jpeg, images)),
            options=SECOND_OR_THIRD,
        )

    return Draft(entry=file.name, originals=(file,), n_options=2, places=(0, 1), show=show)


def _difference(first: Image, second: Image) -> float:
    """Return the mean absolute difference of two images, in levels of 255."""
    difference = np.asarray(first, np.float32) - np.asarray(second, np.float32)
    return float(np.abs(difference).mean())
