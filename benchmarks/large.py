"""Peak memory of commands on a benchmark of 100,000 questions and 10,000 images.

The environment variables BENCH_LARGE and BENCH_LARGE_IMAGES set other numbers. Each command may use
1 GiB (docs/large.md).
"""

import os
import struct
import zlib
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.figures import Figure, run_bench

N_QUESTIONS = int(os.environ.get("BENCH_LARGE", "100000"))
N_IMAGES = int(os.environ.get("BENCH_LARGE_IMAGES", "10000"))
N_SMALL = 2000  # questions of the home that is compared with

_MAX_MIB = 1024
_EVALUATE = ("evaluate", "large", "--json", "--model")
_COMMANDS = {
    "building questions": ("tables", "questions", "large", "--json"),
    "most frequent answer": (*_EVALUATE, "common"),
    "model with new responses": (*_EVALUATE, "echo"),
    "model with cached responses": (*_EVALUATE, "echo"),
    "leaderboard": ("leaderboard",),
    "report": ("report",),
}
_MODEL = """
from zlib import crc32

def echo(images, prompt):
    return "ABCD"[crc32(prompt.encode()) % 4]
"""
_SETTINGS = """
[benchmarks.large]
file = "../large.parquet"
[models.common]
kind = "most_frequent"
[models.echo]
kind = "python"
function = "echo_model:echo"
"""


def measure(folder: Path) -> list[Figure]:
    """Run the commands on a small home, then on a large one."""
    small = _measure_peaks(folder / "small", N_SMALL, min(N_SMALL, N_IMAGES))
    large = _measure_peaks(folder / "large", N_QUESTIONS, N_IMAGES)
    figures = []
    for name, peak_mib in large.items():
        title = f"{N_QUESTIONS:,} questions, {name}"
        growth = (peak_mib - small[name]) * 2**20 / (N_QUESTIONS - N_SMALL)
        figures += [
            Figure(title, peak_mib, at_most=_MAX_MIB, unit="MiB"),
            Figure("    each question", growth, unit="bytes"),
        ]
    return figures


def _measure_peaks(folder: Path, n_questions: int, n_images: int) -> dict[str, float]:
    """Write a home, and return the peak memory of each command in MiB."""
    home = folder / "home"
    home.mkdir(parents=True)
    (home / "bench.toml").write_text(_SETTINGS)
    (folder / "echo_model.py").write_text(_MODEL)
    _write_benchmark(folder, n_questions, n_images)
    python_path = f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    with patch.dict(os.environ, {"PYTHONPATH": python_path}):
        return {name: run_bench(home, *command).peak_mib for name, command in _COMMANDS.items()}


def _write_benchmark(folder: Path, n_questions: int, n_images: int) -> None:
    """Write questions with four options, and images in folders of a thousand."""
    for number in range(n_images):
        path = folder / _image_path(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_encode_png(number))
    names = ("id", "question", "image", "answer", "category")
    schema = pa.schema([(name, pa.string()) for name in names])
    schema = schema.append(pa.field("options", pa.list_(pa.string())))
    with pq.ParquetWriter(folder / "large.parquet", schema) as writer:
        for start in range(0, n_questions, 10_000):
            numbers = range(start, min(n_questions, start + 10_000))
            rows = [_build_row(number, n_images) for number in numbers]
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))


def _build_row(number: int, n_images: int) -> dict[str, object]:
    return {
        "id": f"{number:07d}",
        "question": f"Which of these four things stands to the left of thing number {number}?",
        "image": _image_path(number % n_images),
        "options": [f"thing {number}", "a house", "a tree", "a car"],
        "answer": "ABCD"[number * 7 % 4] if number % 3 else "A",
        "category": f"kind {number % 8}",
    }


def _image_path(number: int) -> str:
    return f"images/{number // 1000:04d}/{number:07d}.png"


def _encode_png(number: int) -> bytes:
    """Encode an image of one pixel, whose colour is the number."""
    pixel = b"\0" + number.to_bytes(3, "big")
    contents = (
        (b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(pixel)),
        (b"IEND", b""),
    )
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in contents
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
