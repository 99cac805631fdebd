"""Images of a row: paths, bytes, data URIs, base64, ``datasets`` structs."""

import base64
import binascii
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote_to_bytes

from bench_assets.core.schema.errors import SourceError

Image: TypeAlias = Path | bytes

_LONGEST_PATH = 1024  # characters; what is longer is an image in base64


class Folder:
    """Root folder of image paths, which may not leave it; listed once per file."""

    def __init__(self, path: Path) -> None:
        """Store the path."""
        self.path = path
        self._real = path.resolve()
        self._parents: dict[Path, Path] = {}  # few folders, however many images lie in them

    def file(self, name: str) -> tuple[Path, bool]:
        """Resolved path of a name, and whether it is inside the folder.

        Raises:
            OSError: If the name is too long.
            ValueError: If it holds a NUL.
        """
        if "\0" in name:
            raise ValueError("it holds a NUL")
        path = self.path / name
        if path.name in ("", "..") or path.is_symlink():
            real = path.resolve()
            return real, real.is_relative_to(self._real)
        parent = self._parents.get(path.parent)
        if parent is None:
            parent = self._parents[path.parent] = path.parent.resolve()
        return parent / path.name, parent.is_relative_to(self._real)


def images_of(cells: Sequence[object], folder: Folder) -> list[Image]:
    """Find the images in the cells of a row, in order; an empty cell has none.

    Args:
        cells: Each an image or a list of images, also as JSON.
        folder: Root folder of paths, which may not leave it.

    Raises:
        SourceError: If a cell is not an image; says why.
    """
    return [_image(one, folder) for cell in cells for one in _listed(cell)]


def _listed(cell: object) -> Sequence[object]:
    if cell is None or cell == "":
        return []
    if isinstance(cell, str) and cell.startswith("["):
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError) as why:
            raise SourceError(f"images {cell!r:.60} are not a JSON list: {why}") from why
    return [one for one in cell if one is not None] if isinstance(cell, list) else [cell]


def _image(one: object, folder: Folder) -> Image:
    match one:
        case bytes():
            return one
        case {"bytes": bytes() as data}:
            return data
        case {"path": str() as path}:
            return _file(path, folder)
        case str() if one.startswith("data:"):
            return _data_uri(one)
        case str() if one.startswith(("http://", "https://")):
            raise SourceError(f"image {one!r:.80} is an address: download it, and name the file")
        case str():
            return _decoded(one) if len(one) > _LONGEST_PATH else _file(one, folder)
    raise SourceError(f"image {one!r:.60} is not a path, bytes or a data URI")


def _file(name: str, folder: Folder) -> Path:
    try:
        path, inside = folder.file(name)
        there = path.is_file()
        if there and inside:
            return path
    except (OSError, ValueError) as why:  # too long, or a NUL
        raise SourceError(f"image {name!r:.80} is not a file name: {why}") from why
    if there:
        raise SourceError(f"image {name!r:.80} lies outside {folder.path}. Set image_folder")
    raise SourceError(f"no image {name!r:.80} in {folder.path}")


def _data_uri(uri: str) -> bytes:
    head, _, data = uri.partition(",")
    return _decoded(data) if head.endswith(";base64") else unquote_to_bytes(data)


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as why:
        raise SourceError(f"image {text!r:.40} is not base64: {why}") from why
