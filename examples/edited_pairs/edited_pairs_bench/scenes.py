"""Scenes, their edits and their images."""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from PIL import Image, ImageDraw

from bench_assets.core.schema.rows import Rejection
from bench_assets.core.tables.json_records import read_entries, records

FILE = "scenes.json"
COLOURS = ("red", "green", "blue", "yellow")
SHAPES = ("disc", "square")
_SIDE = 96  # px


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A shape in one colour; ``where`` is its file and entry, for messages."""

    where: str
    id: str
    shape: str
    colour: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A shape, and its colours before and after the edit."""

    id: str
    shape: str
    before: str
    after: str


def read_scenes(folder: Path) -> list[Scene]:
    """Read the scenes of a source folder, in file order.

    Raises:
        SourceError: If the file cannot be read, an entry is not a scene, or an id is repeated.
    """
    return records(read_entries(folder / FILE), Scene, unique=["id"]).require()


def write_mini(folder: Path) -> None:
    """Write a scene of each shape and colour, and one whose shape cannot be drawn."""
    scenes = [
        {"id": f"{shape}-{colour}", "shape": shape, "colour": colour}
        for shape in SHAPES
        for colour in COLOURS
    ]
    scenes.append({"id": "star-red", "shape": "star", "colour": "red"})
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(json.dumps(scenes, indent=1), encoding="utf-8")


def choose_edits(scenes: Sequence[Scene], seed: int) -> tuple[list[Edit], list[Rejection]]:
    """Choose another colour for each scene, at random by ``seed`` and the scene's id.

    Scenes of an unknown shape or colour are rejected.
    """
    edits, rejections = [], []
    for scene in scenes:
        if scene.shape not in SHAPES or scene.colour not in COLOURS:
            reason = f"a {scene.colour} {scene.shape} cannot be drawn"
            rejections.append(Rejection(entry=scene.where, reason=reason))
            continue
        other_colours = [colour for colour in COLOURS if colour != scene.colour]
        after = Random(f"{seed}\n{scene.id}").choice(other_colours)
        edits.append(Edit(id=scene.id, shape=scene.shape, before=scene.colour, after=after))
    return edits, rejections


def draw_shape(shape: str, colour: str) -> bytes:
    """Draw a disc or a square on white, as PNG."""
    image = Image.new("RGB", (_SIDE, _SIDE), "white")
    canvas = ImageDraw.Draw(image)
    draw = canvas.ellipse if shape == "disc" else canvas.rectangle
    draw((16, 16, _SIDE - 16, _SIDE - 16), fill=colour)
    png = io.BytesIO()
    image.save(png, "PNG")
    return png.getvalue()


def image_name(edit: Edit, part: str) -> str:
    """Name of one image of a pair; ``part`` is "before" or "after"."""
    return f"{edit.id}/{part}"
