"""``bench.Benchmark``: rows of Python as a benchmark, with the checks of a file of questions."""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sized
from datetime import date
from io import BytesIO
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from PIL import Image

from bench_assets.core.schema.errors import SettingsError, SourceError
from bench_assets.evaluation.suite import name_defects
from bench_assets.python_api import arguments
from bench_assets.python_api.calls import interface
from bench_assets.workspace.console.new_home import new_home_printed
from bench_resources.config.environment import default_home
from bench_resources.config.known_benchmarks import FOLDER, add_known
from bench_resources.config.models_toml import toml_value
from bench_resources.storage.atomic_write import open_atomic

if TYPE_CHECKING:
    import pandas as pd

Rows: TypeAlias = "Iterable[Mapping[str, Any]] | pd.DataFrame"
_ROWS = "rows.jsonl"
_PATHS = frozenset({"image_folder", "shots_file"})
_PNG_MODES = frozenset({"1", "L", "LA", "P", "RGB", "RGBA", "I", "I;16"})


class Benchmark:
    """Rows as a benchmark.

    >>> import bench_assets as bench
    >>> rows = [{"question": "Is fire hot?", "answer": "yes"}] * 2
    >>> bench.load(bench.Benchmark(rows, name="facts", answer_type="yes_no"))
    facts: 1 question; .frame() is a DataFrame

    Args:
        rows: Mappings of column to cell, a data frame, or a ``datasets.Dataset``. An image is a PIL
            image, its bytes, or the path of a file below ``image_folder``, by default the working
            directory; a cell may be a list of them.
        name: Name of the benchmark in tables: a-z, digits and underscores.
        settings: Entries of ``[benchmarks.NAME]``, such as ``columns`` and ``answer_type``; None is
            the default.
    """

    def __init__(self, rows: Rows, *, name: str = "rows", **settings: object) -> None:
        """Store the rows and settings; they are checked when the benchmark is used."""
        self.name, self.settings = name, settings
        self._rows = rows

    def __repr__(self) -> str:
        """Name, number of rows if known, and settings."""
        facts = [self.name]
        if isinstance(self._rows, Sized):
            facts.append(f"rows: {len(self._rows)}")
        facts += [f"{name}={value!r}" for name, value in self.settings.items()]
        return f"<Benchmark {', '.join(facts)}>"

    @interface
    def save(self, folder: str | Path) -> Path:
        """Write rows with their images, and a section of settings; returns ``folder/NAME.toml``.

        A row that cannot be written becomes a rejection of the benchmark.

        Raises:
            SettingsError: If ``rows`` is neither an iterable nor a data frame, the name is invalid,
                there is a setting ``file``, or TOML cannot hold a setting.
            HomeError: If a file cannot be written.
        """
        if defects := name_defects(self.name):
            raise SettingsError(f"{self.name!r}: {defects[0]}; choose another name")
        if "file" in self.settings:
            raise SettingsError(f"{self.name}: expected no setting file, because it has rows")
        given = {name: value for name, value in self.settings.items() if value is not None}
        settings = {"file": _ROWS, "image_folder": ".", **given}
        for name in _PATHS & settings.keys():
            settings[name] = str(Path(str(settings[name])).absolute())
        try:
            lines = [f"{name} = {toml_value(value)}" for name, value in settings.items()]
        except TypeError as error:
            raise SettingsError(f"{self.name}: {error}") from error
        folder = Path(folder)
        with open_atomic(folder / _ROWS) as file:
            for row_number, row in enumerate(_iterate_rows(self._rows), 1):
                try:
                    line = json.dumps(_json_cell(row, f"rows, row {row_number}"))
                except (OSError, SourceError, SyntaxError, ValueError) as error:  # also Pillow's
                    line = json.dumps(str(error))  # no object, so that the row becomes a rejection
                file.write(line.encode() + b"\n")
        toml_file = folder / f"{self.name}.toml"
        with open_atomic(toml_file) as file:
            file.write("\n".join([f"[benchmarks.{self.name}]", *lines, ""]).encode())
        return toml_file


def add_suites(argument: str, suites: object) -> list[str]:
    """Add suites to the home: a name, a TOML file or a ``Benchmark``, or several of them.

    Returns the names of suites and tasks, without repeats. Messages name the ``argument``.

    Raises:
        SettingsError: If a suite has another type, or cannot be used.
    """
    home = default_home()
    is_single = isinstance(suites, str | Path | Benchmark) or not isinstance(suites, Iterable)
    suite_list = [suites] if is_single else list(suites)  # type: ignore[call-overload]
    with new_home_printed(home):
        names = [
            str(suite.save(home / FOLDER / suite.name)) if isinstance(suite, Benchmark) else suite
            for suite in suite_list
        ]
        return list(dict.fromkeys(add_known(home, arguments.require_names(argument, names))))


def _iterate_rows(rows: Any) -> Iterator[object]:  # noqa: ANN401
    """Iterate over the rows of a data frame, or of another iterable."""
    if hasattr(rows, "to_dict") and hasattr(rows, "columns"):
        rows = rows.to_dict("records")
    if not isinstance(rows, Iterable) or isinstance(rows, str | Mapping):
        raise SettingsError(f"rows: expected mappings or a data frame, got {type(rows).__name__}")
    return iter(rows)


def _json_cell(cell: object, where: str) -> object:
    """A cell as JSON; an image, or the file of a ``Path``, as bytes in base64; NaN as None."""
    if isinstance(cell, Mapping):
        return {str(name): _json_cell(value, f"{where}, {name}") for name, value in cell.items()}
    if isinstance(cell, list | tuple):
        return [_json_cell(value, where) for value in cell]
    if hasattr(cell, "tolist"):  # a NumPy array or scalar
        return _json_cell(cell.tolist(), where)
    if isinstance(cell, bytes | Image.Image) or (isinstance(cell, Path) and cell.is_file()):
        return {"bytes": b64encode(_image_bytes(cell)).decode()}
    if isinstance(cell, Path | date):
        return str(cell)
    if cell is None or isinstance(cell, bool | int | float | str):
        is_empty = isinstance(cell, float) and isnan(cell)  # as in data frames
        return None if is_empty else cell
    raise SourceError(f"{where}: {type(cell).__name__} is no text, number, list or image")


def _image_bytes(image: bytes | Path | Image.Image) -> bytes:
    """The content of an image file; a PIL image is encoded as PNG."""
    if not isinstance(image, Image.Image):
        return image if isinstance(image, bytes) else image.read_bytes()
    encodable = image if image.mode in _PNG_MODES else image.convert("RGB")
    png = BytesIO()
    encodable.save(png, "PNG", exif=image.getexif())
    return png.getvalue()
