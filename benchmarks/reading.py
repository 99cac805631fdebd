"""What it takes to read the files of others, beside the libraries that only parse them.

Machines differ by a factor of two: each figure is a multiple of the CPU of `csv`, `json` or
`pyarrow` on the same file in the same run.
"""

import csv
import json
from collections.abc import Callable
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
    """Read images with their look-alikes as CSV and as JSON, and questions as Parquet."""
    samples = [_sample(number) for number in range(N_IMAGES)]
    table, lines = folder / "retrieval.csv", folder / "retrieval.jsonl"
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(samples[0]))
        writer.writeheader()
        writer.writerows(samples)
    lines.write_text("".join(f"{json.dumps(one)}\n" for one in samples), encoding="utf-8")
    rows = folder / "questions.parquet"
    asked = [{"id": str(n), "question": f"Is thing {n} up?", "answer": "A"} for n in range(N_ROWS)]
    pq.write_table(pa.Table.from_pylist(asked), rows)
    return [
        _beside("look-alikes as CSV: csv = 1", _look_alikes(table), lambda: _parsed(table), 25),
        _beside(
            "look-alikes as JSON lines: json = 1",
            _look_alikes(lines),
            lambda: [json.loads(line) for line in lines.open(encoding="utf-8")],
            8,
        ),
        _beside(
            "questions as Parquet: pyarrow = 1",
            lambda: list(read_rows(rows)),
            lambda: pq.read_table(rows).to_pylist(),
            12,
        ),
    ]


def _look_alikes(file: Path) -> Callable[[], object]:
    return lambda: read_samples({"retrieval": file})


def _parsed(table: Path) -> list[dict[str, str]]:
    with table.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _beside(
    what: str, read: Callable[[], object], parse: Callable[[], object], most: float
) -> Figure:
    return Figure(what=f"reading {what}", value=_cpu(read) / _cpu(parse), most=most)


def _cpu(work: Callable[[], object]) -> float:
    """CPU seconds of the shortest of three runs."""
    times = []
    for _ in range(3):
        started = process_time()
        work()
        times.append(process_time() - started)
    return min(times)


def _sample(number: int) -> dict[str, object]:
    address = f"https://images.example/{number}/0_0.png"
    return {
        "url": address,
        "captions": [f"A cat number {number} on {thing}." for thing in ("a", "b", "c", "d", "e")],
        "image_distractor_url": [f"{address}?{other}" for other in range(5)],
        "text_distractors": [f"A dog number {number} on {thing}." for thing in "abcdef"],
    }
