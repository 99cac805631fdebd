"""Known benchmarks with public files: their layouts, and responses with the authors' points."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from bench_assets.external_results.vlmevalkit import read_sheet

Row = Mapping[str, Any]


class Answered(NamedTuple):
    """A published response, with the points that its authors published."""

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
    rows: Callable[[Path], list[Row]] | None = None  # rows of a file that is no file of questions
    responses: Callable[[Path], Iterator[tuple[str, list[Answered]]]] | None = None
    lost: str = ""  # why rows are lost
    differs: str = ""  # why points differ
    note: str = ""
    without: tuple[str, ...] = field(default=())  # columns that name absent images

    @property
    def name(self) -> str:
        """Name of its section and of its frozen points."""
        return self.title.lower().replace("-", "").replace(" ", "_")


def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def _lines(file: Path) -> list[Any]:
    return list(map(json.loads, file.read_text(encoding="utf-8").splitlines()))


_MMSTAR = "eval/submits/llava_next_yi_34b_MMStar.xlsx"


def _mmstar_rows(folder: Path) -> list[Row]:
    names = ("index", "question", "answer", "category", "l2_category")
    return [{n: row.cells[n] for n in names} for row in read_sheet(folder / _MMSTAR)]


def _mmstar_responses(folder: Path) -> Iterator[tuple[str, list[Answered]]]:
    yield (
        "LLaVA-NeXT-Yi-34B",
        [
            Answered(r.cells["index"], r.cells["prediction"], None)
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


def _mmmu_responses(folder: Path) -> Iterator[tuple[str, list[Answered]]]:
    for model, name in {"llava1.5_13b": "LLaVA-1.5-13B", "qwen_vl": "Qwen-VL"}.items():
        parsed = _read(folder / _MMMU / model / "total_val_output.json")
        rows = _mmmu_outputs(folder, model)
        yield (
            name,
            [Answered(row["id"], row["response"], _mmmu_points(row, parsed)) for row in rows],
        )


def _mmmu_points(row: Row, parsed: Mapping[str, Any]) -> float | None:
    """Points of the parsed letter; open answers and drawn ones have none."""
    response = f" {row['response']} "
    options = row.get("index2ans") or {}
    is_named = any(letter in response for letter in options) or any(
        option.lower() in response.lower() for option in options.values()
    )
    return float(parsed[row["id"]] == row["answer"]) if options and is_named else None


def _mathvista_responses(folder: Path) -> Iterator[tuple[str, list[Answered]]]:
    for file in sorted(folder.glob("results/*/output_*.json")):
        rows = {pid: row for pid, row in _read(file).items() if "extraction" in row}
        if rows and "random" not in str(file):
            yield (
                file.stem.removeprefix("output_"),
                [
                    Answered(pid, str(row["extraction"]), float(row["true_false"]))
                    for pid, row in rows.items()
                ],
            )


def _mathv_responses(folder: Path) -> Iterator[tuple[str, list[Answered]]]:
    for file in sorted(folder.glob("outputs/**/*.jsonl")):
        if file.stem != "Random-Chance":
            yield (
                file.stem,
                [Answered(r["id"], r["response"], float(r["correct"])) for r in _lines(file)],
            )


def _logicvista_responses(folder: Path) -> Iterator[tuple[str, list[Answered]]]:
    for file in sorted(folder.glob("eval/results/*-accuracy-results.csv")):
        model = file.name.removesuffix("-accuracy-results.csv")
        with file.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        raw = next((name for name in rows[0] if name.endswith("answer raw")), "")
        if raw:
            yield (
                model,
                [Answered(row["id"], row[raw], float(row["match?"] or 0)) for row in rows],
            )


def _figures(file: Path) -> list[Row]:
    """CharXiv's descriptive questions: numbers of templates, one row each."""
    return [
        {"id": f"{figure}_{n}", "question": f"Question {question}", "answer": answer}
        for figure, row in _read(file).items()
        for n, (question, answer) in enumerate(zip(row["qids"], row["answers"], strict=True))
    ]


def _charts(folder: Path) -> list[Row]:
    """ChartQA's test rows of all eight files of a split by difficulty."""
    files = sorted(folder.glob("dataset/*/test_*.json"))
    return [
        {"id": f"{file.parent.name}/{file.stem}/{n}", "type": file.stem.split("_")[1], **row}
        for file in files
        for n, row in enumerate(_read(file))
    ]


BENCHMARKS: Sequence[KnownBenchmark] = (
    KnownBenchmark(
        title="MMStar",
        repository="MMStar-Benchmark/MMStar",
        commit="88f243a",
        day="2024-09-26",
        n_rows=1500,
        rows=_mmstar_rows,
        settings={
            "columns": {"options": "question"},
            "answers": "letters",
            "image_marks": "text",
            "official": "mmstar",
        },
        responses=_mmstar_responses,
        differs="the authors read only the beginning of a response",
    ),
    KnownBenchmark(
        title="MMMU",
        repository="MMMU-Benchmark/MMMU",
        commit="bb0b95a",
        day="2025-05-19",
        n_rows=900,
        rows=_mmmu_rows,
        settings={
            "answers": "letters",
            "answer_type": "text",
            "image_marks": "text",
            "official": "mmmu",
        },
        responses=_mmmu_responses,
        differs="the authors take the last letter that is named, whatever is said of it",
        note="questions are on the hub alone; open and drawn answers have no published points",
    ),
    KnownBenchmark(
        title="MathVista",
        repository="lupantech/MathVista",
        commit="53d5258",
        day="2025-09-28",
        n_rows=1000,
        settings={
            "file": "data/testmini.json",
            "columns": {"id": "pid", "unit": "unit", "decimals": "precision"},
            "answers": "texts",
            "answer_type": "number",
            "tolerance": "decimals",
            "official": "mathvista",
        },
        without=("image",),
        responses=_mathvista_responses,
        differs="the authors take the nearest option of any text, and no number with a unit",
        note="responses are GPT-4's extractions, as in the authors' scores",
    ),
    KnownBenchmark(
        title="MATH-V",
        repository="mathllm/MATH-V",
        commit="a1f5cc3",
        day="2025-05-16",
        n_rows=3040,
        settings={
            "file": "data/test.jsonl",
            "columns": {"category": "subject"},
            "image_marks": "text",
            "answer_type": "text",
        },
        without=("image",),
        responses=_mathv_responses,
        differs="the authors take the first letter or number in many forms, and compare formulas",
    ),
    KnownBenchmark(
        title="HallusionBench",
        repository="tianyi-lab/HallusionBench",
        commit="744007c",
        day="2025-10-14",
        n_rows=1129,
        settings={
            "file": "HallusionBench.json",
            "columns": {
                "id": "{category}/{subcategory}/{set_id}/{figure_id}/{question_id}",
                "answer": "gt_answer",
                "group": "{category}/{subcategory}/{set_id}/{question_id}",
            },
            "answer_type": "yes_no",
            "metric": "group_accuracy",
        },
        without=("filename",),
        note="the published responses have no published points",
    ),
    KnownBenchmark(
        title="POPE",
        repository="AoiDragon/POPE",
        commit="08d957b",
        day="2025-08-21",
        n_rows=3000,
        settings={
            "file": "output/coco/coco_pope_random.json",
            "columns": {"id": "question_id", "question": "text", "answer": "label"},
            "answer_type": "yes_no",
            "metric": "f1",
        },
        without=("image",),
        note="JSON lines named .json; no responses are public",
    ),
    KnownBenchmark(
        title="OCRBench",
        repository="Yuliang-Liu/MultimodalOCR",
        commit="794c36d",
        day="2026-04-28",
        n_rows=1000,
        settings={
            "file": "OCRBench/OCRBench/OCRBench.json",
            "columns": {
                "id": "{dataset_name}/{id}/{type}",
                "answer": "answers",
                "category": "type",
            },
            "answer_type": "text",
        },
        without=("image_path",),
        note="no responses are public",
    ),
    KnownBenchmark(
        title="CharXiv reasoning",
        repository="princeton-nlp/CharXiv",
        commit="7ebe88f",
        day="2025-04-22",
        n_rows=1000,
        settings={
            "file": "data/reasoning_val.json",
            "columns": {"id": "figure_id", "question": "query"},
            "answer_type": "text",
        },
        note="graded by a judge; no responses are public",
    ),
    KnownBenchmark(
        title="CharXiv descriptive",
        repository="princeton-nlp/CharXiv",
        commit="7ebe88f",
        day="2025-04-22",
        n_rows=4000,
        rows=lambda folder: _figures(folder / "data/descriptive_val.json"),
        settings={"answer_type": "text"},
        note="graded by a judge; no responses are public",
    ),
    KnownBenchmark(
        title="ChartQA",
        repository="RobustCQA/ChartQA-Split",
        commit="d20e38a",
        day="2024-10-04",
        n_rows=2373,
        rows=_charts,
        settings={
            "columns": {"question": "query", "answer": "label", "category": "type"},
            "answer_type": "text",
            "metric": "relaxed_accuracy",
        },
        without=("imgname",),
        note="2,373 of the release's 2,500 rows; responses are not public",
    ),
    KnownBenchmark(
        title="LogicVista",
        repository="Yijia-Xiao/LogicVista",
        commit="e5795f1",
        day="2024-08-01",
        n_rows=448,
        settings={"file": "data/dataset.json", "drawn_options": 8},
        without=("imagename",),
        responses=_logicvista_responses,
        lost="v1_382 has no question",
        differs="the authors ask GPT-4 for the letters, which it also takes from explanations",
    ),
    KnownBenchmark(
        title="AMBER",
        repository="junyangwang0410/AMBER",
        commit="534babf",
        day="2024-01-15",
        n_rows=14_216,
        settings={
            "file": "data/query/query_discriminative.json",
            "columns": {"question": "query", "category": "type"},
            "answers_file": {"file": "../annotations.json", "answer": "truth"},
            "answer_type": "yes_no",
            "metric": "f1",
        },
        without=("image",),
        note="answers in a second file; no responses are public",
    ),
)
