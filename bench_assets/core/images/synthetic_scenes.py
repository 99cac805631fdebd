"""Synthetic images with exact ground truth, for the mini editions.

Sprites are graphics of Twemoji (CC-BY 4.0, Twitter, Inc. and other contributors), packed in
``sprites.zip`` under the English names of the emoji, without skin tones. Colours are CSS names. All
places are in px from the upper left corner; boxes are left, top, right, bottom, the last two
exclusive.
"""

import difflib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import cos, pi, sin
from pathlib import Path
from random import Random
from typing import Literal, TypeAlias
from zipfile import ZipFile

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from bench_assets.core.schema.errors import UnknownNameError

Spot: TypeAlias = tuple[int, int]
Box: TypeAlias = tuple[int, int, int, int]
Form: TypeAlias = Literal["ellipse", "rectangle", "triangle", "diamond", "star"]

_GRID = 4  # px between the spots that ``Scene.free_spot`` tries
_GAP = 4  # px, at least, from an object on such a spot to others and to the edges


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedObject:
    """An object in an image, and its region."""

    name: str  # of a sprite or form; the text of a label
    box: Box  # cut where the image ends

    @property
    def centre(self) -> Spot:
        """The middle of its box."""
        left, top, right, bottom = self.box
        return (left + right) // 2, (top + bottom) // 2


class Scene:
    """An image under construction; later objects cover earlier ones."""

    def __init__(self, width: int, height: int, background: str = "white") -> None:
        self.image = Image.new("RGB", (width, height), background)
        self.placed: list[PlacedObject] = []
        self._pen = ImageDraw.Draw(self.image)

    def backdrop(self, box: Box, colour: str) -> None:
        """Colour a background region, such as sky or a table top."""
        self._pen.rectangle(_inclusive(box), fill=colour)

    def sprite(self, name: str, centre: Spot, size: int, *, mirrored: bool = False) -> PlacedObject:
        """Place a sprite.

        Args:
            name: English emoji name, such as ``"dog"`` or ``"red apple"``.
            centre: Its centre, px.
            size: px; its longer side, without transparent margins.
            mirrored: Left and right swapped.

        Raises:
            UnknownNameError: If there is no such sprite; suggests similar names.
        """
        image = _scale_to(_load_sprite(name), size)
        if mirrored:
            image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        x, y = centre
        left, top = x - image.width // 2, y - image.height // 2
        self.image.paste(image, (left, top), image)
        return self._add_object(name, (left, top, left + image.width, top + image.height))

    def form(self, form: Form, box: Box, colour: str) -> PlacedObject:
        """Place a filled geometric form that touches all four sides of its box."""
        if form == "ellipse":
            self._pen.ellipse(_inclusive(box), fill=colour)
        else:
            self._pen.polygon(_corners(form, box), fill=colour)
        return self._add_object(form, box)

    def line(self, points: Sequence[Spot], colour: str, width: int = 3) -> PlacedObject:
        """Place a line through points."""
        self._pen.line(list(points), fill=colour, width=width, joint="curve")
        xs, ys, half = [x for x, _ in points], [y for _, y in points], width // 2
        box = (min(xs) - half, min(ys) - half, max(xs) + half + 1, max(ys) + half + 1)
        return self._add_object("line", box)

    def label(self, text: str, centre: Spot, size: int, colour: str = "black") -> PlacedObject:
        """Write an ASCII text in Pillow's default font, in this font size."""
        font = ImageFont.load_default(size)
        left, top, right, bottom = self._pen.textbbox(centre, text, font=font, anchor="mm")
        self._pen.text(centre, text, fill=colour, font=font, anchor="mm")
        return self._add_object(text, (int(left), int(top), int(right), int(bottom)))

    def free_spot(self, width: int, height: int, rng: Random) -> Spot | None:
        """Draw a spot, on a fine grid, for the centre of an object of a size in px.

        The object keeps a gap to placed ones and to the edges; None if the image is full.
        """
        reach_x, reach_y = (width + 1) // 2 + _GAP, (height + 1) // 2 + _GAP
        xs = np.arange(reach_x, self.image.width - reach_x + 1, _GRID)
        ys = np.arange(reach_y, self.image.height - reach_y + 1, _GRID)
        free = np.ones((len(xs), len(ys)), dtype=bool)
        for placed in self.placed:
            left, top, right, bottom = placed.box
            beside = (xs <= left - reach_x) | (right + reach_x <= xs)
            above_or_below = (ys <= top - reach_y) | (bottom + reach_y <= ys)
            free &= beside[:, None] | above_or_below
        spots = np.argwhere(free)
        if not len(spots):
            return None
        column, row = rng.choice(spots)
        return int(xs[column]), int(ys[row])

    def png(self) -> bytes:
        """Encode the image; equal images give equal bytes."""
        file = io.BytesIO()
        self.image.save(file, "PNG", compress_level=6)
        return file.getvalue()

    def _add_object(self, name: str, box: Box) -> PlacedObject:
        """Record a drawn object, with the part of its box that is inside the image."""
        left, top, right, bottom = box
        width, height = self.image.size
        visible = (max(0, left), max(0, top), min(width, right), min(height, bottom))
        self.placed.append(PlacedObject(name=name, box=visible))
        return self.placed[-1]


@lru_cache(maxsize=512)
def _load_sprite(name: str) -> Image.Image:
    """Load a sprite in RGBA, without its transparent margins."""
    archive = _sprites()
    file = f"{name}.png"
    if file not in archive.NameToInfo:
        names = [file_name.removesuffix(".png") for file_name in archive.namelist()]
        raise UnknownNameError("sprite", name, difflib.get_close_matches(name, names, n=5))
    with Image.open(io.BytesIO(archive.read(file))) as image:
        rgba = image.convert("RGBA")
    return rgba.crop(rgba.getchannel("A").getbbox())


@cache
def _sprites() -> ZipFile:
    # Kept in memory: forked processes would share the position in an open file.
    return ZipFile(io.BytesIO((Path(__file__).parent / "sprites.zip").read_bytes()))


def _scale_to(image: Image.Image, size: int) -> Image.Image:
    """Scale an image so that its longer side has a size, px."""
    scale = size / max(image.size)
    width, height = (max(1, round(side * scale)) for side in image.size)
    return image.resize((width, height), Image.Resampling.LANCZOS)


def _inclusive(box: Box) -> Box:
    """The box with its last column and row included, as Pillow draws it."""
    left, top, right, bottom = box
    return left, top, right - 1, bottom - 1


def _corners(form: Form, box: Box) -> list[Spot]:
    left, top, right, bottom = _inclusive(box)
    corners: dict[str, list[tuple[float, float]]] = {
        "rectangle": [(0, 0), (1, 0), (1, 1), (0, 1)],
        "triangle": [(0.5, 0), (1, 1), (0, 1)],
        "diamond": [(0.5, 0), (1, 0.5), (0.5, 1), (0, 0.5)],
        "star": _star_corners(),
    }
    width, height = right - left, bottom - top
    return [(round(left + x * width), round(top + y * height)) for x, y in corners[form]]


def _star_corners() -> list[tuple[float, float]]:
    """Corners of a star with five tips in the unit square, clockwise from the top."""
    angles = [pi / 5 * n for n in range(10)]
    radii = [1, 0.4] * 5  # tips and notches in turn
    points = [(sin(a) * r, -cos(a) * r) for a, r in zip(angles, radii, strict=True)]
    right = max(x for x, _ in points)
    top, bottom = min(y for _, y in points), max(y for _, y in points)
    return [((x + right) / (2 * right), (y - top) / (bottom - top)) for x, y in points]
