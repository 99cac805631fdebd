"""Files of the raw data sets: folders of images, lines, JSON objects, pickled arrays."""

import io
import pickle
import pickletools
import re
from collections.abc import Iterator
from contextlib import suppress
from math import isfinite, nan
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from bench_assets.core.images.decoding import decode
from bench_assets.core.schema.errors import ImageError, SourceError
from bench_assets.core.tables.json_records import Entry, read_text, require_field, unreadable
from bench_assets.core.tables.read_rows import record_row

IMAGES = (".jpg", ".jpeg", ".png", ".ppm", ".thumb", ".webp")


def image_file(folder: Path, name: str, where: str) -> Path:
    """Return the path of the image that an entry names; the file may be missing.

    Raises:
        SourceError: If the name is empty, no file name or leads out of the folder.
    """
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.name or "\0" in name:
        raise SourceError(f"{where}: image {name!r} does not lie below {folder}")
    return folder / path


def images_in(folder: Path) -> list[Path]:
    """List the images directly in a folder, sorted by name, without hidden files."""
    return sorted(
        file
        for file in folder.iterdir()
        if file.suffix.lower() in IMAGES and not file.name.startswith(".") and file.is_file()
    )


def folders_in(folder: Path) -> list[Path]:
    """List the folders directly in a folder, sorted by name, without hidden ones.

    Raises:
        SourceError: If there is no such folder, or no folder in it.
    """
    inside = folder.iterdir() if folder.is_dir() else ()
    folders = sorted(path for path in inside if path.is_dir() and not path.name.startswith("."))
    if not folders:
        raise SourceError(f"{folder}: expected folders in it, found none")
    return folders


def files_in(folder: Path, pattern: str) -> list[Path]:
    """List the files below a folder that match a pattern, sorted, without hidden files.

    Raises:
        SourceError: If there are none.
    """
    files = sorted(file for file in folder.glob(pattern) if not file.name.startswith("."))
    if not files:
        raise SourceError(f"{folder}: expected files {pattern}, found none")
    return files


def read_image(file: Path) -> Image.Image:
    """Decode an image as models see it: upright, RGB.

    Raises:
        ImageError: If it is missing, does not decode, or is too large to be decoded at full size.
    """
    try:
        return decode(file.read_bytes(), exact=True).image
    except ImageError as error:
        raise ImageError(f"{file}: {error}") from error
    except OSError as error:
        raise ImageError(f"{file}: cannot be read: {error.strerror}") from error


def read_located_lines(file: Path) -> Iterator[tuple[str, str]]:
    """Read the stripped, non-blank lines of a UTF-8 file, each with its location for messages.

    Raises:
        SourceError: If the file cannot be read.
    """
    for number, line in enumerate(read_text(file).splitlines(), 1):
        if line.strip():
            yield line.strip(), f"{file}, line {number}"


def read_objects(entry: Entry, name: str, where: str) -> list[tuple[Entry, str]]:
    """Read a list of objects, each with its location for messages; a non-object becomes ``{}``.

    Raises:
        SourceError: If the field is missing or not a list.
    """
    values = require_field(entry, name, list, where)
    return [
        (value if isinstance(value, dict) else {}, f"{where}, {name} {number}")
        for number, value in enumerate(values, 1)
    ]


def read_number(entry: Entry, name: str, where: str) -> float:
    """Read a field with a finite number.

    Raises:
        SourceError: If the field is missing or holds anything else.
    """
    return _number(entry.get(name), f"{where}: field {name!r}")


def read_numbers(value: object, count: int, where: str) -> list[float]:
    """Read a list of ``count`` finite numbers.

    Raises:
        SourceError: If the value is anything else; the message begins with ``where``.
    """
    if not isinstance(value, list) or len(value) != count:
        raise SourceError(f"{where} is {value!r:.60}, expected {count} numbers")
    return [_number(number, where) for number in value]


def read_arrays(file: Path) -> object:
    """Read a pickle of plain data and NumPy arrays, of any protocol; no code in it is run.

    Pass each array in the content to ``np.asarray``.

    Raises:
        SourceError: If it cannot be read, is not a pickle, or contains anything else.
    """
    try:
        data = file.read_bytes()
        for opcode, argument, _ in pickletools.genops(data):
            if "PUT" in opcode.name and argument is not None and argument > len(data):
                raise ValueError(f"memo {argument} of {len(data)} bytes")  # would fill the memory
        content: object = _ArrayUnpickler(io.BytesIO(data)).load()
    except OSError as error:
        raise unreadable(str(file), f"cannot be read: {error.strerror}") from error
    except Exception as error:  # pickle raises errors of many kinds
        message = str(error) or type(error).__name__
        problem = f"not a pickle of plain data and arrays: {message:.300}"
        raise unreadable(str(file), problem) from error
    record_row(str(file), content)
    return content


class _Dtype:
    """Safe replacement for ``np.dtype``, which trusts its input; for numbers only."""

    def __init__(self, name: str, *_: object) -> None:
        if not re.fullmatch(r"[biuf][1248]", name):
            raise ValueError(f"an array of {name!r:.40} instead of numbers")
        self.dtype = np.dtype(name)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.dtype = self.dtype.newbyteorder(">" if state[1] == ">" else "<")


class _Array:
    """Safe replacement for ``np.ndarray``, which trusts its input."""

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, dtype, by_columns, data = state
        self._values = _numbers(data, dtype, shape, "F" if by_columns else "C")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: ANN401
        return self._values


def _numbers(data: Any, dtype: _Dtype, shape: Any, order: Any) -> NDArray[Any]:  # noqa: ANN401
    return np.frombuffer(data, dtype.dtype).reshape(shape, order=order)


def _scalar(dtype: _Dtype, data: Any) -> object:  # noqa: ANN401
    return _numbers(data, dtype, (), "C").item()


def _encode_text(text: str, encoding: str) -> bytes:
    return text.encode(encoding)


_SAFE_GLOBALS = {
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
    ("_codecs", "encode"): _encode_text,
    ("__builtin__", "bytes"): bytes,
    ("__builtin__", "set"): set,
    ("builtins", "set"): set,
} | {
    (f"numpy.{core}.{module}", function): replacement
    for core in ("core", "_core")  # before and since NumPy 2
    for module, function, replacement in (
        ("multiarray", "_reconstruct", lambda *_: _Array()),
        ("multiarray", "scalar", _scalar),
        ("numeric", "_frombuffer", _numbers),
    )
}


class _ArrayUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401
        if (module, name) not in _SAFE_GLOBALS:
            raise pickle.UnpicklingError(f"it refers to {module}.{name}")
        return _SAFE_GLOBALS[module, name]


def _number(value: object, where: str) -> float:
    number = nan
    if isinstance(value, int | float) and not isinstance(value, bool):
        with suppress(OverflowError):  # an integer of hundreds of digits
            number = float(value)
    if not isfinite(number):
        raise SourceError(f"{where} is {value!r:.60}, expected a number")
    return number
