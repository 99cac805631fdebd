"""A folder in the format of the CODIS release, with its counts and none of its data."""

import json
from pathlib import Path
from typing import Any

from PIL import Image

from tests.fakes.written_images import saved

PAIRS = {
    "Location and Orientation": 84,
    "Temporal Information": 95,
    "Cultural Background": 47,
    "Attributes": 75,
    "Relationships": 52,
}
N_IMAGES = 216


def image(number: int, size: int = 16) -> bytes:
    """A small image that no other number has."""
    return saved(Image.new("RGB", (size, size), (number % 256, number // 256, 128)))


def entries() -> list[dict[str, Any]]:
    """353 pairs in the authors' format; the first 79 images have one each, the others two."""
    categories = [category for category, n in PAIRS.items() for _ in range(n)]
    return [
        {
            "id": f"{number:03d}",
            "image_id": f"{number if number < N_IMAGES else 79 + number % 137:04d}.png",
            "question": f"Is thing {number} going up or down?",
            "context": {
                "context_1": f"{number} is in the east.",
                "context_2": f"{number} is west.",
            },
            "answer": {"answer_1": "Up.", "answer_2": "Down."},
            "category": category,
        }
        for number, category in enumerate(categories)
    ]


def write_release(folder: Path, pairs: list[dict[str, Any]] | None = None) -> Path:
    (folder / "images").mkdir(parents=True, exist_ok=True)
    pairs = entries() if pairs is None else pairs
    (folder / "data.json").write_text(json.dumps(pairs), encoding="utf-8")
    for name in {pair["image_id"] for pair in pairs}:
        (folder / "images" / name).write_bytes(image(int(name.split(".")[0])))
    return folder
