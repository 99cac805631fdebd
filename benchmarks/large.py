"""Memory of a benchmark that is large: 100,000 questions, or as many as BENCH_LARGE says.

They share 10,000 images, or as many as BENCH_LARGE_IMAGES says. 1 GiB is the bound of each command
(docs/large.md).
"""

import os
import struct
import zlib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.figures import Figure, expect, run

N = int(os.environ.get("BENCH_LARGE", "100000"))
IMAGES = int(os.environ.get("BENCH_LARGE_IMAGES", "10000"))
FEW = 2000  # questions of the home that is compared with

_MOST = 1024  # MiB
_COMMANDS = {
    "questions, built": ("tables", "questions", "large", "--json"),
    "the most frequent answer": ("evaluate", "large", "--json", "--model", "common"),
    "a model behind the response store": ("evaluate", "large", "--json", "--model", "echo"),
    "the same, remembered": ("evaluate", "large", "--json", "--model", "echo"),
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
    """Evaluate two models on few questions, then on many; the second one twice."""
    few, many = (_peaks(folder / str(n), n, min(n, IMAGES)) for n in (FEW, N))
    return [
        figure
        for what in _COMMANDS
        for figure in (
            Figure(what=f"{N} questions, {what}", value=many[what], most=_MOST, unit="MiB"),
            Figure(
                what="    each of them",
                value=(many[what] - few[what]) * 2**20 / (N - FEW),
                unit="bytes",
            ),
        )
    ]


def _peaks(folder: Path, n: int, n_images: int) -> dict[str, float]:
    """MiB that each command held at most."""
    home = folder / "home"
    home.mkdir(parents=True)
    (home / "bench.toml").write_text(_SETTINGS)
    (folder / "echo_model.py").write_text(_MODEL)
    _write(folder, n, n_images)
    path = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = f"{folder}{os.pathsep}{path}"
    try:
        return {what: expect(run(home, *command)).peak_mb for what, command in _COMMANDS.items()}
    finally:
        os.environ["PYTHONPATH"] = path


def _write(folder: Path, n: int, n_images: int) -> None:
    """Write questions with four options, and the images, a thousand in a folder."""
    for number in range(n_images):
        file = folder / _image(number)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(_png(number))
    names = ("id", "question", "image", "answer", "category")
    columns = pa.schema([(name, pa.string()) for name in names])
    columns = columns.append(pa.field("options", pa.list_(pa.string())))
    with pq.ParquetWriter(folder / "large.parquet", columns) as file:
        for start in range(0, n, 10_000):
            rows = [_row(number, n_images) for number in range(start, min(n, start + 10_000))]
            file.write_table(pa.Table.from_pylist(rows, schema=columns))


def _row(number: int, n_images: int) -> dict[str, object]:
    return {
        "id": f"{number:07d}",
        "question": f"Which of these four things stands to the left of thing number {number}?",
        "image": _image(number % n_images),
        "options": [f"thing {number}", "a house", "a tree", "a car"],
        "answer": "ABCD"[number * 7 % 4] if number % 3 else "A",
        "category": f"kind {number % 8}",
    }


def _image(number: int) -> str:
    return f"images/{number // 1000:04d}/{number:07d}.png"


def _png(number: int) -> bytes:
    """An image of one pixel, each in another colour."""
    pixel = b"\0" + number.to_bytes(3, "big")
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(pixel)),
        (b"IEND", b""),
    )
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
