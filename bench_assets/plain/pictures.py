"""Finds the pictures of a row: files, bytes, what ``datasets`` stores, data URIs, base64."""

import base64
import binascii
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote_to_bytes

from bench_assets.core.errors import SourceError

Picture: TypeAlias = Path | bytes

_LONGEST_PATH = 1024  # characters; what is longer is a picture in base64


def pictures_of(cells: Sequence[object], folder: Path) -> list[Picture]:
    """Find the pictures in the cells of a row, in order; an empty cell holds none.

    Args:
        cells: Each a picture or a list of them, which may be written as JSON.
        folder: What paths start at, and have to stay in.

    Raises:
        SourceError: If a cell is no picture; says why.
    """
    return [_picture(one, folder) for cell in cells for one in _listed(cell)]


def _listed(cell: object) -> Sequence[object]:
    if cell is None or cell == "":
        return []
    if isinstance(cell, str) and cell.startswith("["):
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError) as why:
            raise SourceError(f"pictures {cell!r:.60} are no JSON list: {why}") from why
    return [one for one in cell if one is not None] if isinstance(cell, list) else [cell]


def _picture(one: object, folder: Path) -> Picture:
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
            raise SourceError(f"picture {one!r:.80} is an address: download it, and name the file")
        case str():
            return _decoded(one) if len(one) > _LONGEST_PATH else _file(one, folder)
    raise SourceError(f"picture {one!r:.60} is neither a path, nor bytes, nor a data URI")


def _file(name: str, folder: Path) -> Path:
    try:
        path = (folder / name).resolve()
        if path.is_file() and path.is_relative_to(folder.resolve()):
            return path
        there = path.is_file()
    except (OSError, ValueError) as why:  # too long, or a NUL
        raise SourceError(f"picture {name!r:.80} is no file name: {why}") from why
    if there:
        raise SourceError(f"picture {name!r:.80} lies outside {folder}: name image_folder")
    raise SourceError(f"no picture {name!r:.80} in {folder}")


def _data_uri(uri: str) -> bytes:
    head, _, data = uri.partition(",")
    return _decoded(data) if head.endswith(";base64") else unquote_to_bytes(data)


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as why:
        raise SourceError(f"picture {text!r:.40} is not base64: {why}") from why
