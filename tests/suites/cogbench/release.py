import json
from typing import Any

from PIL import Image

from bench_assets.suites.cogbench.dataset.reasoning import KINDS
from bench_assets.suites.cogbench.dataset.source import SourceQuestion
from tests.fakes.written_images import saved


def description_entry(**fields: Any) -> dict[str, Any]:
    """An entry of the description file, without chains unless ``fields`` has some."""
    no_chains = {kind.field: ["None"] for kind in KINDS}
    return {
        "Image Name": "kite.jpg",
        "Entities": ["girl", "kite"],
        **no_chains,
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
    """A question about the image "a", whose first option is right."""
    defaults = {"where": "", "image_id": "a", "category": "event", "text": "?", "answer": "A"}
    return SourceQuestion(**(defaults | {"options": ("one", "two", "six", "ten")} | fields))


def write_release(folder, stories, questions=(), images=("kite.jpg",)):
    """Write a published edition; a str is written unchanged, for files that are broken."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    for name, content in (("description", stories), ("vqa", questions)):
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / f"cogbench_{name}.json").write_text(text)
    for name in images:
        (folder / "images" / name).write_bytes(saved(Image.new("P", (8, 6))))
    return folder
