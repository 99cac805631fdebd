"""Readers of raw image folders."""

import json
from collections.abc import Iterator
from contextlib import suppress
from math import isfinite, nan
from pathlib import Path, PurePosixPath

from PIL import Image

from bench_assets.core.images.decoding import decode
from bench_assets.core.schema.errors import ImageError, SourceError
from bench_assets.core.tables.json_records import Entry, field

IMAGES = (".jpg", ".jpeg", ".png", ".ppm", ".thumb", ".webp")


def image_file(folder: Path, name: str, where: str) -> Path:
    """Find the file that an entry names; whether it is there, reading it will show.

    Raises:
        SourceError: If the name leads out of the folder.
    """
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.name:
        raise SourceError(f"{where}: image {name!r} does not lie below {folder}")
    return folder / path


def images_in(folder: Path) -> list[Path]:
    """List the images directly in a folder, sorted by name; hidden files are none."""
    return sorted(
        file
        for file in folder.iterdir()
        if file.suffix.lower() in IMAGES and not file.name.startswith(".") and file.is_file()
    )


def folders_in(folder: Path) -> list[Path]:
    """List the folders directly in a folder, sorted by name; hidden ones are none.

    Raises:
        SourceError: If there is no such folder, or no folder in it.
    """
    inside = folder.iterdir() if folder.is_dir() else ()
    found = sorted(path for path in inside if path.is_dir() and not path.name.startswith("."))
    if not found:
        raise SourceError(f"{folder}: expected folders in it, found none")
    return found


def files_in(folder: Path, pattern: str) -> list[Path]:
    """List the files below a folder that match a pattern, sorted.

    Raises:
        SourceError: If there are none.
    """
    found = sorted(folder.glob(pattern))
    if not found:
        raise SourceError(f"{folder}: expected files {pattern}, found none")
    return found


def read_image(file: Path) -> Image.Image:
    """Decode an image as models see it.

    Raises:
        ImageError: If it is missing or does not decode; names the file.
    """
    try:
        return decode(file.read_bytes()).image
    except ImageError as why:
        raise ImageError(f"{file}: {why}") from why
    except OSError as why:
        raise ImageError(f"{file}: cannot be read: {why.strerror}") from why


def lines_of(file: Path) -> Iterator[tuple[str, str]]:
    """Read the lines of a text file, stripped, blank ones left out; with each, where it stands.

    Raises:
        SourceError: If the file cannot be read as UTF-8 text.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as why:
        raise SourceError(f"{file}: cannot be read: {why.strerror}") from why
    except UnicodeDecodeError as why:
        raise SourceError(f"{file}: not UTF-8 text: {why}") from why
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            yield line.strip(), f"{file}, line {number}"


def read_object(file: Path) -> Entry:
    """Read a file that holds one JSON object.

    Raises:
        SourceError: If it cannot be read, is not JSON, or holds something else.
    """
    try:
        content = json.loads("\n".join(line for line, _ in lines_of(file)))
    except (ValueError, RecursionError) as why:
        raise SourceError(f"{file}: not JSON, or cut short: {why}") from why
    if not isinstance(content, dict):
        raise SourceError(f"{file}: expected an object at the top, found {content!r:.60}")
    return content


def objects(entry: Entry, name: str, where: str) -> list[tuple[Entry, str]]:
    """Take a field that is a list of objects; with each, where it stands.

    Raises:
        SourceError: If it is missing, no list, or holds something else.
    """
    listed = field(entry, name, list, where)
    for nth, value in enumerate(listed, 1):
        if not isinstance(value, dict):
            raise SourceError(f"{where}, {name} {nth}: expected an object, found {value!r:.60}")
    return [(value, f"{where}, {name} {nth}") for nth, value in enumerate(listed, 1)]


def number(entry: Entry, name: str, where: str) -> float:
    """Take a field that is a finite number.

    Raises:
        SourceError: If it is missing or something else.
    """
    return _number(entry.get(name), f"{where}: field {name!r}")


def numbers(entry: Entry, name: str, count: int, where: str) -> list[float]:
    """Take a field that is a list of that many finite numbers.

    Raises:
        SourceError: If it is missing or something else.
    """
    return numbers_in(entry.get(name), count, f"{where}: field {name!r}")


def numbers_in(value: object, count: int, what: str) -> list[float]:
    """Read a value as a list of that many finite numbers.

    Raises:
        SourceError: If it is something else; ``what`` says what was expected to be one.
    """
    if not isinstance(value, list) or len(value) != count:
        raise SourceError(f"{what} is {value!r:.60}, expected {count} numbers")
    return [_number(one, what) for one in value]


def _number(value: object, what: str) -> float:
    number = nan
    if isinstance(value, int | float) and not isinstance(value, bool):
        with suppress(OverflowError):  # an integer of hundreds of digits
            number = float(value)
    if not isfinite(number):
        raise SourceError(f"{what} is {value!r:.60}, expected a number")
    return number
