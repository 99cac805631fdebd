"""Jigsaw: which piece fits the missing corner? (section 3.2).

Raw data: a folder of photographs (the paper takes TARA's). A photograph is cut into 3 x 3 cells;
the upper left four are shown, the last of them, the centre of the photograph, covered in black.
"""

from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
from PIL.Image import Image

from bench_assets.core.images.drawing import jpeg, masked, to_height
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Rejection
from bench_assets.suites.blink.builders.drafts import (
    SECOND_OR_THIRD,
    Candidates,
    Draft,
    DraftView,
    Marks,
    candidates,
    placed,
    wording,
)
from bench_assets.suites.blink.builders.raw_files import images_in, read_image

_HIDDEN = ((2, 0), (2, 1), (0, 2), (1, 2), (2, 2))  # column, row of cells the question never shows
_CENTRE = (1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class JigsawParameters:
    """What makes a wrong piece; not given by the paper."""

    min_difference: float = 12.0
    """Mean difference of a wrong piece from the right one, px by px, in levels of 255."""


def jigsaw(
    source: Path, rng: Random, parameters: JigsawParameters = JigsawParameters()
) -> Candidates:
    """Ask one question about each photograph, in drawn order.

    Raises:
        SourceError: If there are no photographs.
    """
    files = images_in(source) if source.is_dir() else []
    if not files:
        raise SourceError(f"{source}: expected photographs, found none")
    named = [(file, str(file)) for file in files]
    return candidates(named, rng, lambda file, _: _candidate(file, rng, parameters))


def cell(image: Image, column: int, row: int) -> Image:
    """Cut out one of the 3 x 3 cells; px beyond a multiple of three are left over.

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
    return masked(corner, (wide, high, 2 * wide, 2 * high))


def _candidate(file: Path, rng: Random, parameters: JigsawParameters) -> Draft | Rejection:
    image = read_image(file)
    centre = cell(image, *_CENTRE)
    unlike = [
        place
        for place in _HIDDEN
        if _difference(cell(image, *place), centre) >= parameters.min_difference
    ]
    if not unlike:
        return Rejection(entry=file.name, reason="ambiguous: every other piece looks like it")
    wrong = rng.choice(unlike)

    def show(place: int, marks: Marks) -> DraftView:
        whole = to_height(read_image(file), marks.height)
        pieces = placed(cell(whole, *_CENTRE), [cell(whole, *wrong)], place)
        shown = (with_missing_corner(whole), *pieces)
        return DraftView(
            asked=wording("Jigsaw"), images=tuple(map(jpeg, shown)), options=SECOND_OR_THIRD
        )

    return Draft(entry=file.name, originals=(file,), n_options=2, places=(0, 1), show=show)


def _difference(one: Image, other: Image) -> float:
    return float(np.abs(np.asarray(one, np.float32) - np.asarray(other, np.float32)).mean())
