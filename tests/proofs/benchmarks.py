"""Known benchmarks with public files: their layouts, and responses with the authors' points."""

import csv
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bench_assets.external_results.vlmevalkit import read_sheet

Row = Mapping[str, Any]


class PublishedResponse(NamedTuple):
    """A published response, with its published points."""

    id: str
    response: str
    points: float | None  # None: the authors published none, or draw at random


@dataclass(frozen=True, kw_only=True)
class KnownBenchmark:
    """Public files of a benchmark, in a checkout of its repository."""

    title: str
    repository: str
    commit: str
    day: str  # of the commit
    n_rows: int
    settings: Mapping[str, Any]  # entries of its section, with ``file`` in the checkout
    rows: Callable[[Path], list[Row]] | None = None  # None: ``file`` has the questions
    responses: Callable[[Path], Iterator[tuple[str, list[PublishedResponse]]]] | None = None
    lost: str = ""  # reason why rows are lost
    differs: str = ""  # reason why points differ
    note: str = ""
    without: tuple[str, ...] = ()  # columns that name absent images

    @property
    def name(self) -> str:
        """Name of its section and of its frozen points."""
        return self.title.lower().replace("-", "").replace(" ", "_")

    @property
    def checkout_name(self) -> str:
        """Name of a folder with a checkout of its repository."""
        return self.repository.partition("/")[2]


def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def _lines(file: Path) -> list[Any]:
    return list(map(json.loads, file.read_text(encoding="utf-8").splitlines()))


_MMSTAR = "eval/submits/llava_next_yi_34b_MMStar.xlsx"


def _mmstar_rows(folder: Path) -> list[Row]:
    names = ("index", "question", "answer", "category", "l2_category")
    return [{n: row.cells[n] for n in names} for row in read_sheet(folder / _MMSTAR)]


def _mmstar_responses(folder: Path) -> Iterator[tuple[str, list[PublishedResponse]]]:
    yield (
        "LLaVA-NeXT-Yi-34B",
        [
            PublishedResponse(r.cells["index"], r.cells["prediction"], None)
            for r in read_sheet(folder / _MMSTAR)
        ],
    )


_MMMU = "mmmu/example_outputs"


def _mmmu_outputs(folder: Path, model: str) -> list[Row]:
    files = sorted((folder / _MMMU / model).glob("*/output.json"))
    return [row for file in files for row in _read(file)]


def _mmmu_rows(folder: Path) -> list[Row]:
    """Rows without their question texts, which only the hub has."""
    return [
        {
            "id": row["id"],
            "question": row["id"],
            "options": list((row.get("index2ans") or {}).values()),
            "answer": row["answer"],
        }
        for row in _mmmu_outputs(folder, "qwen_vl")
    ]


def _mmmu_responses(folder: Path) -> Iterator[tuple[str, list[PublishedResponse]]]:
    for model, name in {"llava1.5_13b": "LLaVA-1.5-13B", "qwen_vl": "Qwen-VL"}.items():
        parsed_answers = _read(folder / _MMMU / model / "total_val_output.json")
        rows = _mmmu_outputs(folder, model)
        yield (
            name,
            [
                PublishedResponse(row["id"], row["response"], _mmmu_points(row, parsed_answers))
                for row in rows
            ],
        )


def _mmmu_points(row: Row, parsed_answers: Mapping[str, Any]) -> float | None:
    """Points of the parsed letter; None for an open question and for a letter drawn at random."""
    response = f" {row['response']} "
    options = row.get("index2ans") or {}
    is_named = any(letter in response for letter in options) or any(
        option.lower() in response.lower() for option in options.values()
    )
    return float(parsed_answers[row["id"]] == row["answer"]) if options and is_named else None


def _mathvista_responses(folder: Path) -> Iterator[tuple[str, list[PublishedResponse]]]:
    for file in sorted(folder.glob("results/*/output_*.json")):
        rows = {pid: row for pid, row in _read(file).items() if "extraction" in row}
        if rows and "random" not in str(file):
            yield (
                file.stem.removeprefix("output_"),
                [
                    PublishedResponse(pid, str(row["extraction"]), float(row["true_false"]))
                    for pid, row in rows.items()
                ],
            )


def _mathv_responses(folder: Path) -> Iterator[tuple[str, list[PublishedResponse]]]:
    for file in sorted(folder.glob("outputs/**/*.jsonl")):
        if file.stem != "Random-Chance":
            yield (
                file.stem,
                [
                    PublishedResponse(r["id"], r["response"], float(r["correct"]))
                    for r in _lines(file)
                ],
            )


def _logicvista_responses(folder: Path) -> Iterator[tuple[str, list[PublishedResponse]]]:
    for file in sorted(folder.glob("eval/results/*-accuracy-results.csv")):
        model = file.name.removesuffix("-accuracy-results.csv")
        with file.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        column = next((name for name in rows[0] if name.endswith("answer raw")), "")
        if column:
            yield (
                model,
                [
                    PublishedResponse(row["id"], row[column], float(row["match?"] or 0))
                    for row in rows
                ],
            )


def _figures(folder: Path) -> list[Row]:
    """CharXiv's descriptive questions, which are numbers of templates: one row each."""
    rows: list[Row] = []
    for figure, row in _read(folder / "data/descriptive_val.json").items():
        for n, template in enumerate(row["qids"]):
            question = {"id": f"{figure}_{n}", "question": f"Question {template}"}
            rows.append(question | {"answer": row["answers"][n]})
    return rows


def _charts(folder: Path) -> list[Row]:
    """The rows of all test files of ChartQA; the type of each is in the name of its file."""
    files = sorted(folder.glob("dataset/*/test_*.json"))
    return [
        {"id": f"{file.parent.name}/{file.stem}/{n}", "type": file.stem.split("_")[1], **row}
        for file in files
        for n, row in enumerate(_read(file))
    ]


_ROWS: dict[str, Callable[[Path], list[Row]]] = {
    "chartqa": _charts,
    "charxiv": _figures,
    "mmmu": _mmmu_rows,
    "mmstar": _mmstar_rows,
}
_RESPONSES: dict[str, Callable[[Path], Iterator[tuple[str, list[PublishedResponse]]]]] = {
    "logicvista": _logicvista_responses,
    "mathv": _mathv_responses,
    "mathvista": _mathvista_responses,
    "mmmu": _mmmu_responses,
    "mmstar": _mmstar_responses,
}


def _read_benchmarks() -> Iterator[KnownBenchmark]:
    content = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    for fields in content["benchmark"]:
        functions: dict[str, Any] = {
            "rows": _ROWS.get(fields.pop("rows", "")),
            "responses": _RESPONSES.get(fields.pop("responses", "")),
            "without": tuple(fields.pop("without", ())),
        }
        yield KnownBenchmark(**fields, **functions)


BENCHMARKS: Sequence[KnownBenchmark] = tuple(_read_benchmarks())
