"""What people do between two runs: images that are missing, names of other systems.

Whatever is printed afterwards equals a fresh evaluation, or is marked.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from bench_assets.catalog import Catalog
from bench_assets.file_benchmarks.suite import file_benchmark_suites
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.settings_resource import SettingsResource
from tests.faults.table import Fault, FoundError, Trial

GROUP = "people between two runs"
Row = dict[str, Any]

_TOML = """
[benchmarks.quiz]
file = "{file}"
{more}
[models.m]
kind = "scripted"
says = "A"
"""
_GOLD = "ABBABA"
_EDITS: Mapping[str, Callable[[Row], Row]] = {
    "is null": lambda row: row | {"image": None},
    "is empty": lambda row: row | {"image": ""},
    "is an empty list": lambda row: row | {"image": []},
    "is a list of null": lambda row: row | {"image": [None]},
    "is NaN": lambda row: row | {"image": float("nan")},
    "is an empty struct": lambda row: row | {"image": {"bytes": None, "path": None}},
    "has no key": lambda row: {name: cell for name, cell in row.items() if name != "image"},
    "is one of two in a list": lambda row: row | {"image": [row["image"], None]},
    "is a space": lambda row: row | {"image": " "},
}
_NAMES = (
    "Käse.png",
    "ürün/ölçü.png",
    "가방.png",
    "[1].png",
    "[a, b].png",
    "['x'].png",
    "é [2].png",
)


def faults() -> list[Fault]:
    """Class by class."""
    return [
        *(_row(f"the image of one row {name}", "edited after an evaluation",
               "that row is rejected; the number is that of a fresh home",
               lambda trial, edit=edit: _without_image(trial, edit))
          for name, edit in _EDITS.items()),
        _row("the image of one row of a Parquet file is null", "written by datasets",
             "that row is rejected", _without_image_in_parquet),
        _row("rows without an image that are meant", 'images = "optional"',
             "they are questions", _optional_images),
        *(_row(f"an image named {name} in the form {form}", "an archive of macOS, or a name",
               "found", lambda trial, name=name, form=form: _named(trial, name, form))
          for name in _NAMES for form in ("NFC", "NFD")),
    ]  # fmt: skip


def _row(
    name: str, made: str, must: str, attempt: Callable[[Trial], str], *, short: bool = False
) -> Fault:
    return Fault(
        group=GROUP, name=name, made=made, must=must, attempt=attempt, short=short, longest=300.0
    )


class Number(NamedTuple):
    """What is printed of an evaluation."""

    value: float
    n_scored: int
    n_rejected: int | None


class Quiz:
    """A home of six questions with an image each, and a model that says A."""

    def __init__(self, home: Path, rows: list[Row] | None = None, more: str = "") -> None:
        self.home, self.file = home, home / "quiz.jsonl"
        home.mkdir(parents=True)
        (home / "bench.toml").write_text(_TOML.format(file=self.file.name, more=more))
        self.write(rows or [self.row(number) for number in range(len(_GOLD))])

    def row(self, number: int, image: str = "") -> Row:
        """A question, whose image is written if it is not there."""
        file = self.home / (image or f"{number}.png")
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8), (40 * number, 0, 0)).save(file)
        asked = {"id": number, "question": f"Which of {number}?", "options": ["red", "blue"]}
        return asked | {"answer": _GOLD[number], "image": image or f"{number}.png"}

    def rows(self) -> list[Row]:
        """The questions as they are written."""
        return list(map(json.loads, self.file.read_text("utf-8").splitlines()))

    def write(self, rows: list[Row]) -> None:
        """Write the questions."""
        self.file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    def evaluate(self) -> Number:
        """Evaluate, as ``bench evaluate`` does."""
        settings = SettingsResource(home=str(self.home))
        suites = tuple(suite for _, suite in file_benchmark_suites(settings.load()))
        with Workbench(settings, catalog=Catalog(suites=suites)) as bench:
            bench.refresh_questions("quiz")
            bench.evaluate(["quiz"], "m")
            (row,) = [one for one in bench.metrics("quiz", "m") if one.category == "all"]
            return Number(row.value, row.n_scored, row.n_rejected)

    def fresh(self, folder: Path) -> Number:
        """The same evaluation in a copy of the home without anything made before."""
        made = shutil.ignore_patterns("tables", "dagster", "images", "*.sqlite*", "digests.json")
        shutil.copytree(self.home, folder, ignore=made)
        copied = object.__new__(Quiz)
        copied.home, copied.file = folder, folder / self.file.name
        return copied.evaluate()


def _require(found: object, expected: object) -> str:
    if found != expected:
        raise FoundError(f"{found}, expected {expected}")
    return str(found)


def _without_image(trial: Trial, edit: Callable[[Row], Row]) -> str:
    quiz = Quiz(trial.folder / "home")
    _require(quiz.evaluate(), Number(0.5, 6, 0))
    first, *others = quiz.rows()
    quiz.write([edit(first), *others])
    number = quiz.evaluate()
    _require(number, Number(2 / 5, 5, 1))
    return _require(number, quiz.fresh(trial.folder / "fresh"))


def _without_image_in_parquet(trial: Trial) -> str:
    quiz = Quiz(trial.folder / "home")
    rows = quiz.rows()
    for number, row in enumerate(rows):
        data = (quiz.home / row["image"]).read_bytes()
        row["image"] = None if number == len(rows) - 1 else {"bytes": data, "path": None}
    file = quiz.home / "quiz.parquet"
    pq.write_table(pa.Table.from_pylist(rows), file)
    (quiz.home / "bench.toml").write_text(_TOML.format(file=file.name, more=""))
    return _require(quiz.evaluate(), Number(2 / 5, 5, 1))


def _optional_images(trial: Trial) -> str:
    quiz = Quiz(trial.folder / "home", more='images = "optional"')
    rows = quiz.rows()
    edits = list(_EDITS.values())[: len(rows) - 1]
    quiz.write([edit(row) for edit, row in zip(edits, rows[1:], strict=True)] + rows[:1])
    return _require(quiz.evaluate(), Number(0.5, 6, 0))


def _named(trial: Trial, name: str, form: Any) -> str:
    quiz = Quiz(trial.folder / "home")
    rows = quiz.rows()
    other = "NFD" if form == "NFC" else "NFC"
    row = quiz.row(0, normalize(form, name))
    quiz.write([row | {"image": normalize(other, name)}, *rows[1:]])
    return _require(quiz.evaluate(), Number(0.5, 6, 0))
