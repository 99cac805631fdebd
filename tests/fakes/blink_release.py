"""Writes small releases in the authors' layouts."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.fakes.written_images import plain_png

IMAGES = ("image_1", "image_2", "image_3", "image_4")


JIGSAW: dict[str, Any] = {  # what a row of Jigsaw has besides its id
    "image_1": {"bytes": plain_png(size=(30, 20)), "path": "a"},
    "image_2": {"bytes": plain_png("green", (10, 20)), "path": "b"},
    "image_3": {"bytes": plain_png("blue", (10, 20)), "path": "c"},
    "choices": ["the second image", "the third image"],
    "answer": "(A)",
}


def row(idx: object, **fields: Any) -> dict[str, Any]:
    """A row of Relative_Depth, complete."""
    defaults = {
        "idx": idx,
        "question": "Which point is closer to the camera?",
        "prompt": f"Two points are circled. Which one is closer? ({idx})\n(A) A is closer",
        "sub_task": "Relative_Depth",
        "image_1": {"bytes": plain_png(), "path": "1.jpg"},
        "image_2": None,
        "image_3": None,
        "image_4": None,
        "choices": ["A is closer", "B is closer"],
        "answer": "(B)",
        "explanation": "",
    }
    return defaults | fields


def write_parquet(
    folder: Path, task: str, split: str, rows: list[dict[str, Any]], schema: pa.Schema | None = None
) -> Path:
    """As on the hub: one file a split, images as structs of bytes and path."""
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    columns = schema or pa.schema(
        [
            *((name, pa.string()) for name in ("idx", "question", "sub_task", "answer", "prompt")),
            *((name, image) for name in IMAGES),
            ("choices", pa.list_(pa.string())),
            ("explanation", pa.string()),
        ]
    )
    file = folder / task / f"{split}-00000-of-00001.parquet"
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema=columns), file)
    return file
