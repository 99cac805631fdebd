"""CPU seconds to read large data files, beside the libraries that parse them.

Machines differ by a factor of two: each figure is a multiple of the CPU seconds of `csv`, `json` or
`pyarrow` for the same file in the same run.
"""

import csv
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time

import pyarrow as pa
import pyarrow.parquet as pq

from bench_assets.file_benchmarks.row_files import read_rows
from bench_assets.suites.journeybench.retrieval.dataset import read_samples
from benchmarks.figures import Figure

N_IMAGES = 20_000
N_ROWS = 200_000


def measure(folder: Path) -> list[Figure]:
    """Read images with their distractors from CSV and JSON Lines, and questions from Parquet."""
    samples = [_build_sample(number) for number in range(N_IMAGES)]
    csv_file, jsonl_file = folder / "retrieval.csv", folder / "retrieval.jsonl"
    with csv_file.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(samples[0]))
        writer.writeheader()
        writer.writerows(samples)
    jsonl = "".join(f"{json.dumps(sample)}\n" for sample in samples)
    jsonl_file.write_text(jsonl, encoding="utf-8")
    rows = [{"id": str(n), "question": f"Is thing {n} up?", "answer": "A"} for n in range(N_ROWS)]
    parquet_file = folder / "questions.parquet"
    pq.write_table(pa.Table.from_pylist(rows), parquet_file)
    return [
        _compare(
            "retrieval samples as CSV: csv = 1",
            read=lambda: read_samples({"retrieval": csv_file}),
            parse=partial(_parse_csv, csv_file),
            at_most=25,
        ),
        _compare(
            "retrieval samples as JSON Lines: json = 1",
            read=lambda: read_samples({"retrieval": jsonl_file}),
            parse=lambda: [json.loads(line) for line in jsonl_file.open(encoding="utf-8")],
            at_most=8,
        ),
        _compare(
            "questions as Parquet: pyarrow = 1",
            read=lambda: list(read_rows(parquet_file)),
            parse=lambda: pq.read_table(parquet_file).to_pylist(),
            at_most=12,
        ),
    ]


def _parse_csv(file_path: Path) -> list[dict[str, str]]:
    with file_path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _compare(
    title: str, *, read: Callable[[], object], parse: Callable[[], object], at_most: float
) -> Figure:
    ratio = _measure_cpu_seconds(read) / _measure_cpu_seconds(parse)
    return Figure(f"reading {title}", ratio, at_most=at_most)


def _measure_cpu_seconds(function: Callable[[], object]) -> float:
    """CPU seconds of a call, the least of three."""
    times = []
    for _ in range(3):
        started = process_time()
        function()
        times.append(process_time() - started)
    return min(times)


def _build_sample(number: int) -> dict[str, object]:
    url = f"https://images.example/{number}/0_0.png"
    return {
        "url": url,
        "captions": [f"A cat number {number} on {letter}." for letter in "abcde"],
        "image_distractor_url": [f"{url}?{distractor}" for distractor in range(5)],
        "text_distractors": [f"A dog number {number} on {letter}." for letter in "abcdef"],
    }
