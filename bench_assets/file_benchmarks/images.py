"""Images of a row: paths, bytes, data URIs, base64, ``datasets`` structs, ids of other rows."""

import base64
import re
from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import NamedTuple, TypeAlias
from urllib.parse import unquote_to_bytes

from bench_assets.core.answer_types.options import parse_list
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.tables.source_folder import existing_path


class RowReference(NamedTuple):
    """An image cell that holds the id of another row with the image, as in VLMEvalKit's files."""

    row_id: str
    folder: Path  # has no file of this name

    @property
    def missing_error(self) -> SourceError:
        """The error to raise if no row has that id."""
        return SourceError(
            f"no image {self.row_id!r:.80} in {self.folder}, and no row with that id"
        )


Image: TypeAlias = Path | bytes
ImageCell: TypeAlias = Image | RowReference

_LONGEST_PATH = 1024  # characters of an image path; a longer text is an image in base64
_ROW_ID = re.compile(r"[\w-]{1,64}")
_BASE64 = re.compile(r"iVBORw0KGgo|/9j/|R0lGOD|UklGR|Qk0|SUkqA|TU0AK")
"""How PNG, JPEG, GIF, WebP, BMP and TIFF begin in base64."""
_MEDIA_NAME = re.compile(
    r"(?:[^\s]*[_ ])?(?:video|audio|clip|speech)s?(?:[_ ]?(?:path|file|url|bytes|name))?", re.I
)
_MEDIA_FILE = re.compile(
    r"\S+\.(?:png|jpe?g|gif|webp|bmp|tiff?|mp4|avi|mov|mkv|webm|mp3|wav|flac|ogg|m4a)", re.I
)
_TIMED_FILE = re.compile(r"\S+\.(?:mp4|avi|mov|mkv|webm|mp3|wav|flac|ogg|m4a)", re.I)


class Folder:
    """Root folder that image paths may not leave; resolves each parent folder once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._real = path.resolve()
        self._parents: dict[Path, Path] = {}  # parent -> resolved; few, even with many images

    def resolve(self, name: str) -> tuple[Path, bool]:
        """Resolved path of a name, and whether it is inside the folder.

        Raises:
            OSError: If the name is too long.
            ValueError: If it holds a NUL.
        """
        if "\0" in name:
            raise ValueError("it holds a NUL")
        path = existing_path(self.path / name)
        if path.name in ("", "..") or path.is_symlink():
            real = path.resolve()
            return real, real.is_relative_to(self._real)
        parent = self._parents.get(path.parent)
        if parent is None:
            parent = self._parents[path.parent] = path.parent.resolve()
        return parent / path.name, parent.is_relative_to(self._real)


def images_of(cells: Sequence[object], folder: Folder) -> list[ImageCell]:
    """Find the images in the cells of a row, in order; an empty cell has none.

    A cell is an image, or a list of images, also as JSON or in Python's notation. Paths may not
    leave the folder.

    Raises:
        SourceError: If a cell is not an image; says why.
    """
    return [_parse_image(image, folder) for cell in cells for image in _list_images(cell)]


def has_image(cells: Sequence[object]) -> bool:
    """Whether the cells of a row hold anything that should be an image."""
    return any(_list_images(cell) for cell in cells)


def first_missing_position(cells: Sequence[object]) -> int:
    """Position of the first empty item in a list of images, from 1; 0 without any."""
    lists = [images for images in map(_parse_images, cells) if isinstance(images, list | tuple)]
    for images in lists:
        for position, image in enumerate(images, 1):
            if _is_empty(image):
                return position
    return 0


def guess_media(name: str, cell: object) -> str:
    """Guess the media in a column: "images", "video or audio", or "".

    >>> guess_media("clip", "a"), guess_media("photo", "a.png")
    ('video or audio', 'images')
    >>> guess_media("source", "coco"), guess_media("n_videos", 3)
    ('', '')
    """
    if cell is None or cell == "" or isinstance(cell, bool | int | float):
        return ""
    listed = parse_list(cell) if isinstance(cell, str) else cell
    cells = listed if isinstance(listed, list | tuple) else [listed]
    if any(map(_is_video_or_audio, cells)) or (_MEDIA_NAME.fullmatch(name) and cells):
        return "video or audio"
    return "images" if any(map(_is_image_cell, cells)) else ""


def _is_video_or_audio(cell: object) -> bool:
    match cell:
        case str():
            return bool(_TIMED_FILE.fullmatch(cell)) or cell.startswith(("data:video", "data:aud"))
        case {"array": _, "sampling_rate": _}:
            return True
        case {"path": str() as path}:
            return bool(_TIMED_FILE.fullmatch(path))
    return False


def _is_image_cell(cell: object) -> bool:
    match cell:
        case str():
            is_embedded = len(cell) > _LONGEST_PATH and _BASE64.match(cell)
            is_file = len(cell) <= _LONGEST_PATH and _MEDIA_FILE.fullmatch(cell)
            return bool(is_embedded or is_file) or cell.startswith("data:image")
        case bytes() | {"bytes": _, "path": _} | {"bytes": bytes()}:
            return True
    return False


def _list_images(cell: object) -> Sequence[object]:
    parsed = _parse_images(cell)
    listed = parsed if isinstance(parsed, list | tuple) else [parsed]
    return [image for image in listed if not _is_empty(image)]


def _parse_images(cell: object) -> object:
    """The list that a text writes, else the cell itself; a text such as "[1].png" is a name."""
    return parse_list(cell) if isinstance(cell, str) and cell.startswith("[") else cell


def _is_empty(cell: object) -> bool:
    """Whether a cell is missing, a struct of ``datasets`` has only empty fields, or it is NaN."""
    if isinstance(cell, Mapping):
        return bool(cell) and not any(cell.values())
    return cell in (None, "") or (isinstance(cell, float) and isnan(cell))


def _parse_image(cell: object, folder: Folder) -> ImageCell:
    match cell:
        case bytes():
            return cell
        case {"bytes": bytes() as data} if data:
            return data
        case {"bytes": str() as text} if text:
            return _decode_base64(text)
        case {"path": str() as path} if path:
            return _find_file(path, folder)
        case int() if not isinstance(cell, bool):
            return _parse_text(str(cell), folder)
        case str():
            return _parse_text(cell, folder)
    raise SourceError(f"image {cell!r:.60} is not a path, bytes or a data URI")


def _parse_text(text: str, folder: Folder) -> ImageCell:
    """Parse the text of a cell: a data URI, a file, base64, or the id of another row."""
    if text.startswith("data:"):
        return _decode_data_uri(text)
    if text.startswith(("http://", "https://")):
        raise SourceError(
            f"image {text!r:.80} is an address: download it, and give the file's path"
        )
    if len(text) > _LONGEST_PATH:
        return _decode_base64(text)
    try:
        return _find_file(text, folder)
    except SourceError:
        if _BASE64.match(text):
            return _decode_base64(text)
        if _ROW_ID.fullmatch(text):
            return RowReference(text, folder.path)
        raise


def _find_file(name: str, folder: Folder) -> Path:
    try:
        path, is_inside = folder.resolve(name)
        exists = path.is_file()
        if exists and is_inside:
            return path
    except (OSError, ValueError) as error:  # too long, or a NUL
        raise SourceError(f"image {name!r:.80} is not a file name: {error}") from error
    if exists:
        raise SourceError(f"image {name!r:.80} lies outside {folder.path}. Set image_folder")
    raise SourceError(f"no image {name!r:.80} in {folder.path}")


def _decode_data_uri(uri: str) -> bytes:
    head, _, data = uri.partition(",")
    return _decode_base64(data) if head.endswith(";base64") else unquote_to_bytes(data)


def _decode_base64(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except ValueError as error:  # also binascii.Error
        raise SourceError(f"image {text!r:.40} is not base64: {error}") from error
