"""CogBench source folders that a test writes: made-up stories in the authors' schema."""

import io
import json
from pathlib import Path
from typing import Any

from PIL import Image

from bench_assets.suites.cogbench.dataset.reasoning import KINDS
from bench_assets.suites.cogbench.dataset.source import SourceQuestion


def described(**fields: Any) -> dict[str, Any]:
    """An entry of the description file: nothing but what a test names."""
    nothing = {kind.field: ["None"] for kind in KINDS}
    return {
        "Image Name": "kite.jpg",
        "Entities": ["girl", "kite"],
        **nothing,
        "Description": ["A girl flies a kite."],
    } | fields


def vqa_row(**fields: Any) -> dict[str, Any]:
    """An entry of the question file."""
    return {
        "question": "What is the girl doing?",
        "choice_a": "Flying a kite.",
        "choice_b": "Catching a fish.",
        "choice_c": "Waiting for a bus.",
        "choice_d": "Reading a map.",
        "answer": "A",
        "img_id": "kite",
        "category": "event",
    } | fields


def source_question(**fields: Any) -> SourceQuestion:
    """A question of the image a, whose right option is the first."""
    defaults = {"where": "", "image_id": "a", "category": "event", "text": "?", "answer": "A"}
    return SourceQuestion(**(defaults | {"options": ("one", "two", "six", "ten")} | fields))


def image(kind: str = "PNG") -> bytes:
    """A palette image of 8 x 6 px."""
    file = io.BytesIO()
    Image.new("P", (8, 6)).save(file, kind)
    return file.getvalue()


def write_release(
    folder: Path, stories: Any, questions: Any = (), images: tuple[str, ...] = ("kite.jpg",)
) -> Path:
    """Write a published edition; texts are written as they are, for files that are broken."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    for name, entries in (("description", stories), ("vqa", questions)):
        text = entries if isinstance(entries, str) else json.dumps(entries)
        (folder / f"cogbench_{name}.json").write_text(text)
    for name in images:
        (folder / "images" / name).write_bytes(image())
    return folder
