"""Scenes, how they are drawn, and how one is edited so that the answer turns."""

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
    """A shape of one colour."""

    where: str  # file and entry, for messages
    id: str
    shape: str
    colour: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A scene and its colour after the edit."""

    id: str
    shape: str
    before: str
    after: str


def read_scenes(folder: Path) -> list[Scene]:
    """Read all scenes in file order.

    Raises:
        SourceError: If the file cannot be read, or an id stands there twice.
    """
    return records(read_entries(folder / FILE), Scene, unique=["id"]).require()


def write_mini(folder: Path) -> None:
    """Write scenes of every shape and colour, and one that cannot be drawn."""
    named = [(shape, colour) for shape in SHAPES for colour in COLOURS]
    scenes = [{"id": f"{s}-{c}", "shape": s, "colour": c} for s, c in named]
    scenes.append({"id": "star-red", "shape": "star", "colour": "red"})
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(json.dumps(scenes, indent=1), encoding="utf-8")


def edit(scenes: Sequence[Scene], seed: int) -> tuple[list[Edit], list[Rejection]]:
    """Draw another colour for each scene; the same seed draws the same ones."""
    edits, rejections = [], []
    for scene in scenes:
        if scene.shape not in SHAPES or scene.colour not in COLOURS:
            reason = f"a {scene.colour} {scene.shape} cannot be drawn"
            rejections.append(Rejection(entry=scene.where, reason=reason))
            continue
        others = [colour for colour in COLOURS if colour != scene.colour]
        after = Random(f"{seed}\n{scene.id}").choice(others)
        edits.append(Edit(id=scene.id, shape=scene.shape, before=scene.colour, after=after))
    return edits, rejections


def drawn(shape: str, colour: str) -> bytes:
    """Draw a shape, as PNG."""
    image = Image.new("RGB", (_SIDE, _SIDE), "white")
    pen = ImageDraw.Draw(image)
    draw = pen.ellipse if shape == "disc" else pen.rectangle
    draw((16, 16, _SIDE - 16, _SIDE - 16), fill=colour)
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()


def image_name(one: Edit, part: str) -> str:
    """Name of an image of a pair; ``part`` is "before" or "after"."""
    return f"{one.id}/{part}"
